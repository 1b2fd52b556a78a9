// The style sheet of pages.
#pragma once

namespace tessera::report {

inline constexpr char kStyle[] = R"(
:root{--text:#1a1a1a;--soft:#5a5f66;--page:#ffffff;--card:#ffffff;--line:#d4d7db;--note:#fff4d6;}
@media (prefers-color-scheme: dark){
:root{--text:#e6e6e6;--soft:#a4abb3;--page:#15181c;--card:#1b1f24;--line:#383e45;--note:#3a3115;}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--text);font:16px/1.5 system-ui,sans-serif}
main{max-width:1240px;margin:0 auto;padding:0 16px 48px}
h1{font-size:1.6rem;line-height:1.25;margin:1.2rem 0 .4rem;overflow-wrap:anywhere}
h2{font-size:1.3rem;margin:2.4rem 0 .5rem;padding-top:.6rem;border-top:2px solid var(--line);overflow-wrap:anywhere}
h3{font-size:1.05rem;margin:1.6rem 0 .4rem;overflow-wrap:anywhere}
p{margin:.5rem 0;overflow-wrap:anywhere}
.shapes{position:absolute}
.gap{background:var(--note);border-left:4px solid var(--c4);padding:.4rem .7rem}
.figures{display:grid;gap:16px;align-items:start;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));margin:.8rem 0}
figure{margin:0;padding:8px;background:var(--card);border:1px solid var(--line);border-radius:6px;min-width:0}
figure.wide{grid-column:1/-1}
.panels{display:grid;gap:12px;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr))}
.panels svg{font-family:sans-serif;display:block;width:100%;max-width:600px;height:auto;margin:0 auto}
.panels svg.narrow{display:none;max-width:440px}
figcaption{color:var(--soft);font-size:.9rem;margin:.3rem 0 .5rem}
img{display:block;width:100%;max-width:760px;height:auto;margin:.6rem 0;border:1px solid var(--line)}
.table{--under:var(--page);overflow:auto;margin:.5rem 0;max-width:100%;background:
linear-gradient(90deg,var(--under) 30%,transparent) left/24px 100% no-repeat local,
linear-gradient(270deg,var(--under) 30%,transparent) right/24px 100% no-repeat local,
linear-gradient(90deg,var(--line),transparent) left/10px 100% no-repeat scroll,
linear-gradient(270deg,var(--line),transparent) right/10px 100% no-repeat scroll}
figure .table{--under:var(--card)}
.table.long{max-height:44rem;border-bottom:1px solid var(--line)}
table{border-collapse:collapse;font-size:.84rem;font-variant-numeric:tabular-nums}
th,td{padding:.18rem .6rem .18rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line);white-space:nowrap}
td.text{white-space:normal;min-width:9rem}
th{color:var(--soft);font-weight:600;vertical-align:bottom;white-space:normal}
.long th{position:sticky;top:0;background:var(--under)}
th.n,td.n{text-align:right;padding:.18rem 0 .18rem .9rem}
tr>:first-child{padding-left:0}
th.n+th:not(.n),td.n+td:not(.n){padding-left:.9rem}
nav{font-size:.95rem;margin:.4rem 0}
nav a{color:var(--c0);margin-right:1rem;display:inline-block}
@media screen and (max-width:480px){.panels svg.wide{display:none}.panels svg.narrow{display:block}}
@media (max-width:480px){main{padding:0 10px 32px}figure{padding:6px}}
dl{display:grid;grid-template-columns:minmax(6rem,max-content) minmax(0,1fr);gap:.15rem .9rem;margin:.5rem 0;font-size:.92rem}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
pre,code{font-family:ui-monospace,monospace;font-size:.82rem}
pre{overflow:auto;background:var(--card);border:1px solid var(--line);border-radius:6px;padding:.6rem;margin:.5rem 0}
summary{cursor:pointer;color:var(--soft)}
@media print{
nav{display:none}
:root{--text:#000;--soft:#444;--page:#fff;--card:#fff;--line:#bbb}
body{font-size:10pt}
main{max-width:none;padding:0}
.figures{grid-template-columns:1fr 1fr}
.panels{grid-template-columns:repeat(auto-fit,minmax(min(100%,240px),1fr))}
figure,tr,img,svg{break-inside:avoid}
h2,h3{break-after:avoid}
.table,.table.long{overflow:visible;max-height:none;background:none}
@page wide{size:A4 landscape}
.table.wide{page:wide}
table{font-size:6.5pt}
th,td{white-space:normal}
.long th{position:static}
.table.wide table{table-layout:fixed;width:100%;font-size:4.6pt}
.table.wide :is(th,td){overflow-wrap:anywhere;min-width:0;padding:1pt 2pt}
pre{white-space:pre-wrap;overflow-wrap:anywhere}
details::details-content{content-visibility:visible;block-size:auto}}
)";

}  // namespace tessera::report
