"""The published packages, by way of cargo: a manifest asks for exact versions, and cargo says where it has put them."""
import json
import subprocess
from pathlib import Path


def fetch(wanted, folder):
    """({name: folder of its sources}, None), or (None, cargo's words) where they cannot be had. `wanted`: {name: cargo's description}."""
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "src/lib.rs").write_text("")
    lines = ["[package]", 'name = "fetch"', 'version = "0.0.0"', 'edition = "2021"', "[workspace]", "[dependencies]"]
    lines += [f"{name} = {description}" for name, description in wanted.items()]
    (folder / "Cargo.toml").write_text("\n".join(lines) + "\n")
    answer = subprocess.run(["cargo", "metadata", "--format-version=1"], cwd=folder, capture_output=True, text=True)
    if answer.returncode:
        said = [line for line in answer.stderr.splitlines() if line.startswith("error")]
        return None, said[0] if said else "cargo does not say why"
    found = {}
    for package in json.loads(answer.stdout)["packages"]:
        if package["name"] in wanted:
            found[package["name"]] = Path(package["manifest_path"]).parent
    return found, None


def public_api(name, folder):
    """What rustdoc knows about a fetched package, as JSON; None without a nightly toolchain."""
    kept = folder / f"{name}.json"
    if not kept.exists():
        command = ["cargo", "+nightly", "rustdoc", "--quiet", "-p", name, "--lib", "--target-dir", "target", "--",
                   "-Zunstable-options", "--output-format=json", "--cap-lints=allow"]
        if subprocess.run(command, cwd=folder, capture_output=True).returncode:
            return None
        (folder / "target/doc" / f"{name.replace('-', '_')}.json").rename(kept)
    return json.loads(kept.read_text())
