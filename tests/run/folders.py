"""A small evaluation on disk, of which a test names only what matters."""

from collections.abc import Mapping
from pathlib import Path

RULES = """title = "Greetings"
attempts = 2
k = [1, 2]
seeds = [11, 12, 13]
[exclusion]
allowed = ["infra_error"]
"""

CONFIG = """version = "v1"
agent = "greeter 1.0"
model = "scripted"
command = ["{python}", "{evaluation}/agents/greeter.py"]
prompt = "prompts/v1.md"
[sampling]
temperature = 0.2
"""

TASK = """title = "Say hello"
time_limit_s = 30
forbid = ["names.txt"]
[[check]]
name = "greeting_right"
kind = "bytes_equal"
file = "greeting.txt"
expected = "greeting.txt"
"""

AGENT = """from pathlib import Path
Path("greeting.txt").write_text("hello " + Path("names.txt").read_text())
"""

_FILES: Mapping[str, str] = {
    "evaluation.toml": RULES,
    "README.md": "# Greetings\n",
    "agents/greeter.py": AGENT,
    "prompts/v1.md": "Be polite.\n",
    "configs/agent.toml": CONFIG,
    "tasks/hello/task.toml": TASK,
    "tasks/hello/instruction.md": "Greet everybody in names.txt.\n",
    "tasks/hello/start/names.txt": "Ada\n",
    "tasks/hello/expected/greeting.txt": "hello Ada\n",
}


def write_files(folder: Path, files: Mapping[str, str | None]) -> None:
    """Write files below ``folder``; None removes one."""
    for name, text in files.items():
        path = folder / name
        if text is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def evaluation_folder(top: Path, files: Mapping[str, str | None] | None = None) -> Path:
    """Write the evaluation ``greetings`` below ``top``, with other files where they are named."""
    folder = top / "evaluations" / "greetings"
    write_files(folder, _FILES)
    write_files(folder, files or {})
    return folder
