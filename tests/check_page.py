#!/usr/bin/env python3
"""Says what is wrong with reports (HTML) and their pictures (SVG): check_page.py FILE...

A page's elements must be closed in order, its ids be unique and every reference be to one of them; nothing may
come from the network; no number may be missing; it must be smaller than 4 MB. A picture must be XML and have a title.
"""
import html.parser
import pathlib
import re
import sys
import xml.etree.ElementTree

VOID = {"meta", "img", "br", "hr", "link", "input"}
# Elements of SVG may close themselves.
MAX_BYTES = 4_000_000


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.ids, self.references, self.tags = [], [], [], [], {}

    def handle_startendtag(self, tag, attrs):
        self.count(tag, attrs)

    def handle_starttag(self, tag, attrs):
        self.count(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def count(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        if tag in ("script", "iframe", "object", "link"):
            self.wrong.append(f"<{tag}> at {self.getpos()}")
        for name, value in attrs:
            if name.startswith("on"):
                self.wrong.append(f"{name} at {self.getpos()}")
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href"):
                if value.startswith("#"):
                    self.references.append(value[1:])
                elif not value.startswith("data:image/png;base64,"):
                    self.wrong.append(f"{name}={value[:80]!r} at {self.getpos()}")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()} closes nothing")


def check_html(text):
    page = Page()
    page.feed(text)
    page.close()
    wrong = page.wrong + [f"<{tag}> is not closed" for tag in page.open]
    wrong += [f"id {name!r} is not unique" for name in set(page.ids) if page.ids.count(name) > 1]
    wrong += [f"there is no #{name}" for name in sorted(set(page.references) - set(page.ids))]
    for tag in ("html", "head", "title", "style", "body", "h1"):
        if page.tags.get(tag) != 1:
            wrong.append(f"{page.tags.get(tag, 0)} <{tag}>")
    for picture in re.findall(r"<svg.*?</svg>", text, re.S):
        wrong += check_svg(picture, is_file=False)
    if re.search(r"url\(|@import|https?://", re.sub(r"<(pre|td|dd|th)\b.*?</\1>", "", text, flags=re.S)):
        wrong.append("an address outside the page")
    return wrong


def check_svg(text, is_file):
    try:
        root = xml.etree.ElementTree.fromstring(text)
    except xml.etree.ElementTree.ParseError as error:
        return [f"SVG: {error}: {text[:200]!r}"]
    wrong = []
    is_hidden = root.get("class") == "shapes"
    if not is_hidden and not re.fullmatch(r"0 0 \d+ \d+", root.get("viewBox", "")):
        wrong.append("SVG: no viewBox")
    if not is_hidden and not is_file and ("width" in root.attrib or not root.get("aria-label")):
        wrong.append("SVG: of a fixed width, or without a name")
    if is_file and not [e for e in root if e.tag.endswith("title") and e.text]:
        wrong.append("SVG: no title")
    if not is_file and re.search(r"rgb\(|'black'|\"black\"|\"white\"", text):
        wrong.append("SVG: a color that does not follow the page")
    if re.search(r"\b(nan|inf)\b", text, re.I):
        wrong.append("SVG: a number that is none")
    return wrong


def main():
    status = 0
    for name in sys.argv[1:]:
        data = pathlib.Path(name).read_bytes()
        text = data.decode("utf-8")  # throws for what is not
        wrong = check_svg(text, is_file=True) if name.endswith(".svg") else check_html(text)
        if len(data) > MAX_BYTES:
            wrong.append(f"{len(data)} bytes")
        for line in wrong:
            print(f"{name}: {line}")
        status |= bool(wrong)
    return status


if __name__ == "__main__":
    sys.exit(main())
