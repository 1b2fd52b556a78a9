// This file has the text of the ParaView script.
#include "postprocess/vtk/view_script.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace tessera {
namespace {

// How many times ParaView halves edges, which gives 2^level chords along an edge.
int subdivision_level(int degree) {
  if (degree == 1) return 0;
  return degree <= 3 ? 2 : degree <= 6 ? 3 : 4;
}

// JSON's string literals are Python's.
std::string python_string(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

constexpr const char* kHead = R"py(#!/usr/bin/env pvpython
"""Shows a result of Tessera in ParaView (5.10 or later).

  paraview --script=view.py      in the application
  pvpython view.py               in a window; saves view.png where there is no display
  pvpython view.py picture.png   saves a picture
  pvbatch view.py                saves view.png
"""
import os
import sys

from paraview import servermanager
from paraview.simple import *

)py";

constexpr const char* kBody = R"py(
def here():
    """The folder of this script."""
    try:
        return os.path.dirname(os.path.abspath(__file__))
    except NameError:  # ParaView's own window does not say
        pass
    try:
        with open("/proc/self/cmdline") as command:
            arguments = command.read().replace("--script\0", "--script=").split("\0")
    except OSError:
        arguments = []
    scripts = [text[len("--script="):] for text in arguments if text.startswith("--script=")]
    return os.path.dirname(os.path.abspath(scripts[0])) if scripts else os.getcwd()


def attempt(proxy, **properties):
    """Sets properties that not every version of ParaView has."""
    for name, value in properties.items():
        try:
            setattr(proxy, name, value)
        except (AttributeError, RuntimeError, TypeError, ValueError):
            print("view.py: this ParaView does not take", name, "=", value, file=sys.stderr)


def subdivision(cells):
    """Levels of subdivision: as the degree asks for, but at most some million triangles."""
    faces = cells if DIMENSION == 2 else 6 * cells ** (2 / 3)
    level = SUBDIVISION
    while level > 1 and 2 * faces * 4**level > 8e6:
        level -= 1
    return level


def image_to_save():
    """File name of the picture to save, or None for a window."""
    if len(sys.argv) > 1 and sys.argv[1].lower().endswith((".png", ".jpg", ".jpeg")):
        return sys.argv[1]
    process = servermanager.vtkProcessModule
    batch = process.GetProcessType() == process.PROCESS_BATCH
    displays = ("DISPLAY", "WAYLAND_DISPLAY")
    headless = sys.platform.startswith("linux") and not any(os.environ.get(d) for d in displays)
    return os.path.join(here(), "view.png") if batch or headless else None


def in_application():
    """Whether ParaView's own window runs this script."""
    return not (sys.argv and sys.argv[0])


def main():
    grid_path = os.path.join(here(), GRID)
    if not os.path.exists(grid_path):
        print("view.py: there is no", grid_path, file=sys.stderr)
        return
    in_time = GRID.endswith(".pvd")
    if in_time:
        grid = PVDReader(registrationName=GRID, FileName=grid_path)
        scene = GetAnimationScene()
        scene.UpdateAnimationUsingDataTimeSteps()
        scene.GoToLast()
    elif GRID.endswith(".pvtu"):
        grid = XMLPartitionedUnstructuredGridReader(registrationName=GRID, FileName=[grid_path])
    else:
        grid = XMLUnstructuredGridReader(registrationName=GRID, FileName=[grid_path])
    grid.UpdatePipeline()
    information = grid.GetDataInformation()
    bounds = information.GetBounds()
    lengths = [bounds[2 * d + 1] - bounds[2 * d] for d in range(3)]
    center = [0.5 * (bounds[2 * d + 1] + bounds[2 * d]) for d in range(3)]
    diagonal = sum(length**2 for length in lengths) ** 0.5
    low, high = RANGE or grid.PointData[FIELD].GetRange()

    view = GetActiveViewOrCreate("RenderView")
    attempt(view, ViewSize=[1600, 1200], OrientationAxesVisibility=1)
    if DIMENSION == 2:
        shown = WarpByScalar(registrationName="warped", Input=grid)
        shown.Scalars = ["POINTS", FIELD]
        shown.ScaleFactor = 0.3 * diagonal / (high - low) if high > low else 0.0
        direction = [-0.4, -1.0, 0.8]
    else:
        shown = Clip(registrationName="cut", Input=grid)
        shown.ClipType = "Plane"
        shown.ClipType.Origin = center
        shown.ClipType.Normal = [0.0, 1.0, 0.0]
        attempt(shown, Invert=0)
        outline = Show(Outline(registrationName="outline", Input=grid), view)
        attempt(outline, LineWidth=2.0, AmbientColor=[0.2] * 3, DiffuseColor=[0.2] * 3)
        direction = [-0.5, -1.0, 0.6]

    display = Show(shown, view)
    ColorBy(display, ("POINTS", FIELD))
    attempt(display, NonlinearSubdivisionLevel=subdivision(information.GetNumberOfCells()))
    colors = GetColorTransferFunction(FIELD)
    try:
        colors.ApplyPreset("Viridis (matplotlib)", True)
    except RuntimeError:
        pass  # the default colors will do
    if high > low:
        colors.RescaleTransferFunction(low, high)
    display.SetScalarBarVisibility(view, True)
    attempt(GetScalarBar(colors, view), Title=FIELD, ComponentTitle="")
    try:
        view.AxesGrid.Visibility = 1
    except AttributeError:
        pass
    caption = "\n".join(text for text in (TITLE, STATUS.upper()) if text)
    if caption:
        label = Text(registrationName="caption")
        label.Text = caption
        attempt(Show(label, view), FontSize=18)
    if in_time:
        clock = AnnotateTimeFilter(registrationName="time", Input=grid)
        attempt(clock, Format="t = {time:g}")
        attempt(Show(clock, view), FontSize=18, WindowLocation="Upper Right Corner")

    SetActiveSource(shown)
    view.CameraFocalPoint = center
    view.CameraPosition = [center[d] + diagonal * direction[d] for d in range(3)]
    view.CameraViewUp = [0.0, 0.0, 1.0]
    ResetCamera(view)
    Render(view)
    if in_application():
        return
    image = image_to_save()
    if image:
        SaveScreenshot(image, view, ImageResolution=[1600, 1200])
        print("saved", image)
    else:
        Interact(view)


main()
)py";

}  // namespace

std::string view_script(const ViewOptions& options) {
  std::string text = kHead;
  text += "GRID = " + python_string(options.grid_file) + "\n";
  text += "FIELD = " + python_string(options.field) + "\n";
  text += "TITLE = " + python_string(options.title) + "\n";
  text += "STATUS = " + python_string(options.status) + "\n";
  const auto& range = options.series;
  const bool is_known = range && range->first <= range->second;
  text +=
      is_known ? fmt::format("RANGE = ({}, {})\n", range->first, range->second) : "RANGE = None\n";
  text += "DIMENSION = " + std::to_string(options.dimension) + "\n";
  text += "SUBDIVISION = " + std::to_string(subdivision_level(options.degree)) + "\n\n";
  return text + kBody;
}

}  // namespace tessera
