"""The tutorial runs without errors."""

from pathlib import Path

import nbclient
import nbformat

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "tutorial.ipynb"


def test_tutorial():
    notebook = nbformat.read(TUTORIAL, as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    shown = [
        output["data"]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "execute_result"
    ]
    html = "".join(data.get("text/html", "") for data in shown)
    assert "<svg" in html and "Scores along the path" in html
    assert "item-01" in html and "model-1" in html
