"""The command `completion`: the script that lets a shell complete commands, options and process ids."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_VIVERO_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script with which a shell completes commands, options and process ids.

    \b
    bash (4.4 or later): a line in ~/.bashrc
      eval "$(vivero completion bash)"
    zsh: a line in ~/.zshrc, behind the one with compinit
      eval "$(vivero completion zsh)"
    fish:
      vivero completion fish > ~/.config/fish/completions/vivero.fish
    """
    found = get_completion_class(shell)
    assert found is not None
    root = click.get_current_context().find_root().command
    click.echo(found(root, {}, "vivero", VARIABLE).source())
