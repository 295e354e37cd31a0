"""The public API of a package as cases that only have to compile, made from what rustdoc knows about it (as JSON, on nightly).

* A *name* is a public path: module, type, trait, function, macro, constant, variant. The case imports it.
* A *signature* is a function with the exact signature of a public function or method (of a type, or of a trait for any type that has it)
  that calls it. So ours may ask for less and give more, and not the other way round. Public fields are read in the same way.
* An *implementation* is a trait that a public type has, automatic ones (`Send`) included, or that a public trait has for types of others.
  The case asks the compiler to show it under the same bounds, with the same associated types.

What cannot be written down outside of the package (a private type in a bound, say) does not compile with the original either, and so is
not counted. What is hidden from documentation, negative implementations, and what `impl<T> .. for T` gives to everybody are left out.
"""
import re

from plan import Case, Sheet

HEAD = "#![allow(warnings)]\n"
# Traits of the standard library that only nightly can name; and `Drop`, which nobody asks for: a type that owns another one that has it
# needs none.
UNNAMEABLE = {"Freeze", "StructuralPartialEq", "UnsafeUnpin", "CloneToUninit", "UseCloned", "TrivialClone", "Drop"}


class Unwritable(Exception):
    pass


def sheets(api, crate, deprecated=True):
    """The sheets for a crate; `deprecated`: with items that are marked as such?"""
    surface = Surface(api, crate, deprecated)
    for kind, cases in (("names", surface.names()), ("signatures", surface.signatures()), ("implementations", surface.implementations())):
        unique = {}
        for name, text in cases:
            while f"{kind}: {name}" in unique:
                name += "'"
            unique[f"{kind}: {name}"] = text
        yield Sheet(f"{kind}_{crate}", f"API: {kind}", [Case(name, text) for name, text in unique.items()], HEAD)


def only(tagged):
    """rustdoc's enums: {"kind": content}, or just "kind"."""
    return next(iter(tagged.items())) if isinstance(tagged, dict) else (tagged, None)


class Surface:
    def __init__(self, api, crate, deprecated):
        self.index, self.paths, self.crate, self.deprecated = api["index"], api["paths"], crate, deprecated
        self.public = []  # (path, kind, item) of everything that can be named
        self.path_of = {}  # id: the first, that is shortest, public path
        self.outside = []  # paths of what is re-exported from other crates
        level = [(crate, self.item(api["root"]))]
        seen = set()
        while level:
            deeper = []
            for path, module in level:
                for child in only(module["inner"])[1].get("items") or []:
                    self.visit(path, self.item(child), deeper, seen)
            level = deeper

    def item(self, id):
        return self.index.get(str(id))

    def visit(self, path, item, deeper, seen):
        if item is None or (item["deprecation"] and not self.deprecated):
            return
        kind, inner = only(item["inner"])
        if kind == "use":
            target = self.item(inner["id"]) if inner["id"] is not None else None
            if inner["is_glob"]:
                if target:
                    for child in only(target["inner"])[1].get("items") or only(target["inner"])[1].get("variants") or []:
                        self.visit(path, self.item(child), deeper, seen)
            elif target is None:
                self.outside.append(f"{path}::{inner['name']}")
            else:
                self.visit(path, dict(target, name=inner["name"], visibility="public"), deeper, seen)
            return
        if item["visibility"] not in ("public", "default") or kind == "impl":
            return
        here = f"{path}::{item['name']}"
        if (here, kind) in seen:
            return
        seen.add((here, kind))
        self.public.append((here, kind, item))
        self.path_of.setdefault(str(item["id"]), here)
        if kind == "module":
            deeper.append((here, item))

    # -- names

    def names(self):
        for path in self.outside:
            yield path, self.import_of(path)
        for path, kind, item in self.public:
            yield path, self.import_of(path)
            if kind == "enum":
                for id in only(item["inner"])[1]["variants"]:
                    variant = f"{path}::{self.item(id)['name']}"
                    yield variant, self.import_of(variant)

    def import_of(self, path):
        return f"const _: () = {{ use {path} as _Imported; }};"

    # -- signatures

    def first_paths(self, *kinds):
        """Each item once, by its shortest path."""
        for path, kind, item in self.public:
            if kind in kinds and self.path_of[str(item["id"])] == path:
                yield path, kind, only(item["inner"])[1]

    def signatures(self):
        number = 0
        for name, make in self.functions():
            try:
                text = make(f"f{number}")
            except Unwritable:
                continue
            number += 1
            yield name, text

    def functions(self):
        """(name, what makes the case) of everything that can be called, or read."""
        for path, _, inner in self.first_paths("function"):
            yield path, lambda f, path=path, inner=inner: self.call(f, path, inner, Writer(self), [inner["generics"]])
        for path, _, inner in self.first_paths("trait"):
            for id in inner["items"]:
                method = self.item(id)
                if method and only(method["inner"])[0] == "function":
                    yield f"{path}::{method['name']}", lambda f, path=path, inner=inner, method=method: self.trait_call(f, path, inner, method)
        for path, kind, inner in self.first_paths("struct", "enum", "union"):
            if kind == "struct" and "plain" in inner["kind"]:
                for id in inner["kind"]["plain"]["fields"]:
                    field = self.item(id)
                    if field and field["visibility"] == "public":
                        yield f"{path}::{field['name']}", lambda f, path=path, inner=inner, field=field: self.field(f, path, inner, field)
            for id in inner["impls"]:
                block = only(self.item(id)["inner"])[1] if self.item(id) else None
                if not block or block["trait"]:
                    continue
                for member in map(self.item, block["items"]):
                    if member and only(member["inner"])[0] == "function" and member["visibility"] == "public" and (self.deprecated or not member["deprecation"]):
                        yield f"{path}::{member['name']}", lambda f, block=block, member=member: self.method(f, block, member)

    def method(self, f, block, member):
        function = only(member["inner"])[1]
        owner = Writer(self).type(block["for"])
        return self.call(f, f"<{owner}>::{member['name']}", function, Writer(self, owner), [block["generics"], function["generics"]])

    def trait_call(self, f, path, trait, method):
        function = only(method["inner"])[1]
        writer = Writer(self, "Any")
        parameters = writer.parameters(trait["generics"])
        bound = path + (f"<{', '.join(parameters)}>" if parameters else "")
        inputs = function["sig"]["inputs"]
        by_reference = inputs and inputs[0][0] == "self" and lifetime_of(inputs[0][1]) is not None
        return self.call(f, f"<Any as {bound}>::{method['name']}", function, writer, [trait["generics"], function["generics"]],
                         f"Any: {bound}" + (" + ?Sized" if by_reference else ""))

    def call(self, f, callee, function, writer, generics, first=None):
        header, signature = function["header"], function["sig"]
        declared, where = writer.declare(*generics)
        arguments, receiver = [], None
        for number, (name, type) in enumerate(signature["inputs"]):
            if number == 0 and name == "self":
                # What the result borrows it borrows from `self`; a plain function's rules would not say so.
                receiver = "'this" if lifetime_of(type) == "" else lifetime_of(type)
                arguments.append(writer.with_lifetime(receiver).type(type))
            else:
                arguments.append(writer.type(type))
        if receiver == "'this":
            declared.insert(0, "'this")
        if first:
            declared = [word for word in declared if word.startswith("'")] + [first] + [word for word in declared if not word.startswith("'")]
        result = signature["output"]
        try:
            returned = f" -> {writer.with_lifetime(receiver).type(result)}" if result else ""
        except Unwritable:
            # A future of a type without a public name: that it can be called is all that can be asked.
            returned = None
        own = [] if any(is_impl_trait(parameter) for parameter in generics[-1]["params"]) else writer.parameters(generics[-1], lifetimes=False)
        words = "".join(word for word, wanted in (("const ", header["is_const"]), ("async ", header["is_async"]), ("unsafe ", header["is_unsafe"])) if wanted)
        passed = ", ".join(f"a{number}" for number in range(len(arguments)))
        body = f"{callee}{'::<' + ', '.join(own) + '>' if own else ''}({passed})" + (".await" if header["is_async"] else "")
        if header["is_unsafe"]:
            body = f"unsafe {{ {body} }}"
        if returned is None:
            returned, body, words = "", f"let _ = {body};", words.replace("const ", "")
        listed = ", ".join(f"a{number}: {type}" for number, type in enumerate(arguments))
        return f"{words}fn {f}{angled(declared)}({listed}){returned}{where_clause(where)} {{ {body} }}"

    def field(self, f, path, struct, field):
        writer = Writer(self)
        declared, where = writer.declare(struct["generics"])
        owner = path + angled(writer.parameters(struct["generics"]))
        return f"fn {f}{angled(declared)}(a: {owner}) -> {writer.type(only(field['inner'])[1])}{where_clause(where)} {{ a.{field['name']} }}"

    # -- implementations

    def implementations(self):
        seen, number = set(), 0
        for _, kind, inner in self.first_paths("struct", "enum", "union", "trait"):
            for id in inner["implementations" if kind == "trait" else "impls"]:
                block = only(self.item(id)["inner"])[1] if self.item(id) else None
                if id in seen or not block or not block["trait"] or block["blanket_impl"] or block["is_negative"]:
                    continue
                seen.add(id)
                if block["trait"]["path"].split("::")[-1] in UNNAMEABLE:
                    continue
                try:
                    # An automatic trait's implementation leaves out what the type itself asks of its parameters.
                    extra = inner["generics"] if block["is_synthetic"] and kind != "trait" else None
                    name, text = self.implementation(number, block, extra)
                except Unwritable:
                    continue
                number += 1
                yield name, text

    def implementation(self, number, block, extra):
        owner = Writer(self).type(block["for"])
        writer = Writer(self, owner)
        trait = writer.path(block["trait"])
        name = f"{trait} for {owner}"
        declared, where = writer.declare(block["generics"])
        if extra:
            bounds, more = writer.declare(extra)
            own = set(writer.parameters(block["generics"]))
            where += [bound for bound in bounds if ":" in bound and not bound.startswith("const ") and bound.split(":")[0] in own] + more
            where = [bound for bound in where if "?Sized" not in bound]
        types = []
        for member in map(self.item, block["items"]):
            if member and only(member["inner"])[0] == "assoc_type":
                type = only(member["inner"])[1]
                if type["type"] and not type["generics"]["params"]:
                    types.append(f"{member['name']} = {writer.type(type['type'])}")
        if types:
            trait = (trait[:-1] + ", " if trait.endswith(">") else trait + "<") + ", ".join(types) + ">"
        # A lifetime without a name is a parameter like any other.
        fresh = []

        def named(found):
            fresh.append(f"'fresh{len(fresh)}")
            return fresh[-1] if found[0] == "'_" else f"&{fresh[-1]} "

        owner, trait = (re.sub(r"'_\b|&(?!')", named, text) for text in (owner, trait))
        declared = fresh + declared
        passed = writer.parameters(block["generics"], lifetimes=False)
        head, bounds = f"{angled(declared)}(_: *const ({owner}))", where_clause(where)
        text = (f"fn has{number}{head}{where_clause([*where, f'{owner}: {trait}'])} {{}} "
                f"fn i{number}{head.replace('(_:', '(a:', 1)}{bounds} {{ has{number}{'::' + angled(passed) if passed else ''}(a) }}")
        return name, text


class Writer:
    """Writes types down. `owner` stands for `Self`; `elided` for lifetimes that the source leaves out."""

    def __init__(self, surface, owner="Self", elided=""):
        self.surface, self.owner, self.elided = surface, owner, elided

    def with_lifetime(self, lifetime):
        return Writer(self.surface, self.owner, lifetime or "")

    def lifetime(self, name):
        return self.elided or "'_" if name == "'_" else name

    def type(self, type):
        kind, inner = only(type)
        return getattr(self, f"type_{kind}", self.type_unknown)(inner)

    def type_unknown(self, _):
        raise Unwritable

    def type_resolved_path(self, inner):
        return self.path(inner)

    def type_generic(self, inner):
        return self.owner if inner == "Self" else inner

    def type_primitive(self, inner):
        return "!" if inner == "never" else inner

    def type_tuple(self, inner):
        return "(" + "".join(f"{self.type(one)}, " for one in inner) + ")"

    def type_slice(self, inner):
        return f"[{self.type(inner)}]"

    def type_array(self, inner):
        return f"[{self.type(inner['type'])}; {inner['len']}]"

    def type_raw_pointer(self, inner):
        return f"*{'mut' if inner['is_mutable'] else 'const'} {self.type(inner['type'])}"

    def type_borrowed_ref(self, inner):
        lifetime = self.lifetime(inner["lifetime"]) if inner["lifetime"] else self.elided
        pointed = self.type(inner["type"])
        if pointed.startswith(("dyn ", "impl ")):
            pointed = f"({pointed})"
        return f"&{lifetime + ' ' if lifetime else ''}{'mut ' if inner['is_mutable'] else ''}{pointed}"

    def type_impl_trait(self, inner):
        return "impl " + " + ".join(map(self.bound, inner))

    def type_dyn_trait(self, inner):
        parts = [for_all(one["generic_params"]) + self.path(one["trait"]) for one in inner["traits"]]
        return "dyn " + " + ".join(parts + ([self.lifetime(inner["lifetime"])] if inner["lifetime"] else []))

    def type_qualified_path(self, inner):
        owner = self.type(inner["self_type"])
        if inner["trait"] and inner["trait"]["path"]:
            owner = f"<{owner} as {self.path(inner['trait'])}>"
        return f"{owner}::{inner['name']}{self.arguments(inner['args'])}"

    def type_function_pointer(self, inner):
        signature = inner["sig"]
        listed = ", ".join(self.type(type) for _, type in signature["inputs"])
        return for_all(inner["generic_params"]) + f"fn({listed})" + (f" -> {self.type(signature['output'])}" if signature["output"] else "")

    def path(self, inner):
        """A type or trait by a path that everybody can use."""
        id = str(inner["id"])
        known = self.surface.paths.get(id)
        if id in self.surface.path_of:
            path = self.surface.path_of[id]
        elif known is None or known["crate_id"] == 0:
            raise Unwritable
        else:
            path = outside_path(known["path"])
        return path + self.arguments(inner["args"])

    def arguments(self, inner):
        if not inner:
            return ""
        kind, inner = only(inner)
        if kind == "parenthesized":
            plain = self.with_lifetime("")
            listed = ", ".join(plain.type(type) for type in inner["inputs"])
            return f"({listed})" + (f" -> {plain.type(inner['output'])}" if inner["output"] else "")
        if kind != "angle_bracketed":
            raise Unwritable
        words = []
        for argument in inner["args"]:
            what, value = only(argument)
            if what == "lifetime":
                words.append(self.lifetime(value))
            elif what == "type":
                words.append(self.type(value))
            elif what == "const":
                words.append(value["expr"])
            else:
                words.append("_")
        for constraint in inner["constraints"]:
            what, value = only(constraint["binding"])
            name = constraint["name"] + self.arguments(constraint["args"])
            if what == "equality" and "type" in value:
                words.append(f"{name} = {self.type(value['type'])}")
            elif what == "constraint":
                words.append(f"{name}: {' + '.join(map(self.bound, value))}")
            else:
                raise Unwritable
        return angled(words)

    def bound(self, bound):
        kind, inner = only(bound)
        if kind == "outlives":
            return self.lifetime(inner)
        if kind != "trait_bound":
            raise Unwritable
        sign = {"none": "", "maybe": "?"}.get(inner["modifier"])
        if sign is None:
            raise Unwritable
        return sign + for_all(inner["generic_params"]) + self.path(inner["trait"])

    def declare(self, *all_generics):
        """(parameters with their bounds, lifetimes first; where clauses)"""
        lifetimes, others, where = [], [], []
        for generics in all_generics:
            for parameter in generics["params"]:
                kind, inner = only(parameter["kind"])
                name = parameter["name"]
                if kind == "lifetime":
                    lifetimes.append(f"{name}: {' + '.join(inner['outlives'])}" if inner["outlives"] else name)
                elif kind == "const":
                    others.append(f"const {name}: {self.type(inner['type'])}")
                elif not inner["is_synthetic"]:
                    bounds = " + ".join(map(self.bound, inner["bounds"]))
                    others.append(f"{name}: {bounds}" if bounds else name)
            for predicate in generics["where_predicates"]:
                kind, inner = only(predicate)
                if kind == "bound_predicate":
                    where.append(f"{for_all(inner['generic_params'])}{self.type(inner['type'])}: {' + '.join(map(self.bound, inner['bounds']))}")
                elif kind == "lifetime_predicate":
                    where.append(f"{inner['lifetime']}: {' + '.join(inner['outlives'])}")
                else:
                    raise Unwritable
        return lifetimes + others, where

    def parameters(self, generics, lifetimes=True):
        """The bare names, as they are passed on."""
        return [parameter["name"] for parameter in generics["params"]
                if not is_impl_trait(parameter) and (lifetimes or "lifetime" not in parameter["kind"])]


def is_impl_trait(parameter):
    kind, inner = only(parameter["kind"])
    return kind == "type" and inner["is_synthetic"]


def lifetime_of(receiver):
    """Of `&'a self`; "" if it has no name, None if `self` is no reference. `Pin<&mut Self>` is one, too."""
    kind, inner = only(receiver)
    if kind == "resolved_path" and inner["path"].split("::")[-1] == "Pin":
        kind, inner = only(only(inner["args"])[1]["args"][0]["type"])
    if kind == "borrowed_ref":
        return inner["lifetime"] or ""
    return None


def outside_path(path):
    """rustdoc says where an item of another crate was written, which is often in a private module; the usual place is one level below the
    crate, in the standard library two, and more for what only some systems have."""
    if path[0] in ("core", "alloc", "std"):
        if len(path) == 2:
            return "std::" + path[1]
        depth = 4 if path[1:3] == ["os", "unix"] else 3 if path[1] == "os" else 2
        inner = path[1:-1][:depth - 1]
        return "::".join(["std", *inner, path[-1]])
    return f"{path[0]}::{path[-1]}"


def for_all(parameters):
    return f"for<{', '.join(parameter['name'] for parameter in parameters)}> " if parameters else ""


def angled(words):
    return f"<{', '.join(words)}>" if words else ""


def where_clause(words):
    return f" where {', '.join(words)}" if words else ""
