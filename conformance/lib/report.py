"""The table, the cases by name, and the verdict."""
from sides import BROKEN, IGNORED, PASSES, REFUSED


def known_cases(file):
    """{case: (reason, does it fail always?)}. A line is `case | reason`, or `case | sometimes: reason`."""
    known = {}
    for line in file.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            case, reason = (part.strip() for part in line.split(" | ", 1))
            known[case] = (reason.removeprefix("sometimes: "), not reason.startswith("sometimes: "))
    return known


def agrees(original, ours):
    """Does our outcome count as passed? Where the compiler must refuse, it must name the original's errors."""
    if original.startswith(REFUSED):
        if not ours.startswith(REFUSED):
            return False
        return set(original.removeprefix(REFUSED).split(", ")) <= set(ours.removeprefix(REFUSED).split(", "))
    return original == ours


def tell(options, suite, plan, results, known, known_file):
    original, ours = results["original"]["results"], results["ours"]["results"]
    whole_files = [case.removesuffix("::") for case, outcome in ours.items() if case.endswith("::") and outcome == BROKEN]
    groups, failing, not_counted = plan.groups(), {}, []
    rows = {group: {"cases": 0, "pass": 0, "ignored": 0} for group in groups.values()}
    for case, outcome in original.items():
        counted = outcome in (PASSES, IGNORED) or outcome.startswith(REFUSED)
        if not counted or case.endswith("::"):
            not_counted.append((case, outcome))
            continue
        row = rows[groups.get(case) or groups[case.split("::")[0]]]
        mine = BROKEN if any(case.startswith(f"{file}::") for file in whole_files) else ours.get(case, "is not there")
        row["cases"] += 1
        if outcome == IGNORED:
            row["ignored"] += 1
        elif agrees(outcome, mine):
            row["pass"] += 1
        else:
            failing[case] = mine

    rows = {group: row for group, row in rows.items() if row["cases"]}
    width = max(map(len, [*rows, "all"]))
    print(f"\n{'':{width}}  {'cases':>6} {suite.NAME:>9} {'Blitz':>6} {'ignored':>8}")
    rows["all"] = {name: sum(row[name] for row in rows.values()) for name in ("cases", "pass", "ignored")}
    for group, row in rows.items():
        print(f"{group:{width}}  {row['cases']:6,} {row['cases'] - row['ignored']:9,} {row['pass']:6,} {row['ignored']:8,}")

    new = {case: outcome for case, outcome in failing.items() if case not in known}
    if failing:
        print(f"\n{len(failing)} do not pass, {len(failing) - len(new)} of them known:")
        for case, outcome in failing.items():
            print(f"  {case}: {outcome}" + (f" ({known[case][0]})" if case in known else "   <-- not in the list"))
    if not options.only:
        for case, (_, always) in known.items():
            if always and case not in failing:
                print(f"  {case} is in {known_file.name}, and passes: take it off the list")
    for side in ("original", "ours"):
        if results[side]["unsteady"]:
            print(f"\npassed only when run again ({side}): {', '.join(results[side]['unsteady'])}")
    if not_counted:
        print(f"\nnot counted, because they do not pass with {suite.NAME} itself here: {len(not_counted)} (original.json names them)")
    log = options.out / options.suite / "failing.txt"
    said = results["ours"]["messages"]
    with log.open("w") as file:
        for case, outcome in failing.items():
            file.write(f"==== {case}: {outcome}\n{said.get(case) or said.get(case.split('::')[0], '')}\n")
    if new:
        print(f"\n{len(new)} cases fail that {known_file.name} does not list; {log} has what they said")
        return 1
    return 0
