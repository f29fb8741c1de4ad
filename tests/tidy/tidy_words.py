"""The words: documents that are short and name what exists, comments in the words of the field."""
import glob
import os
import re

ARCHITECTURE = "src/README.md"
ARCHITECTURE_LINES_MAX = 130

# Folders at the top whose paths documents name.
TOP_FOLDERS = ("src", "include", "queries", "tests", "bench", "fixtures", ".ci", ".github")
# Endings of names that stand for a file wherever it lies, in the documents of src/.
FILE_ENDINGS = ("cc", "h", "sql", "py", "js", "css", "cmake", "test", "md", "csv", "txt")

# Words that mean something else in this field, or nothing to whoever reads them first, with what is
# said instead: how often they stand in the comments of src/ and include/. RATCHET: may only shrink.
BANNED_WORDS = {
    "shape": (r"shapes?", "args text (a shape is a tensor's)", 1),
    "label": (r"labels?", "event name (a label is a process's)", 3),
    "slot": (r"slots?", "args column", 0),
    "overlay": (r"overlays?", "staged changes", 0),
    "told by": (r"told by", "determined by", 1),
    "behind": (r"behind", "after", 15),
}
# Where such a word is the right one: a room, or a file.
RIGHT_WORDS = {
    "slot": ("src/serve/",),  # a query's place among those that compute
    "label": ("src/cut/cut_processes", "src/derive/derive_names"),  # process_labels of a trace
}


def documents(tree, *folders):
    """(path from the root, text) of the .md files below."""
    for folder in folders:
        for at, below, names in os.walk(os.path.join(tree.root, folder)):
            below[:] = sorted(set(below) - {"__pycache__"})
            for name in sorted(names):
                path = os.path.relpath(os.path.join(at, name), tree.root)
                if name.endswith(".md"):
                    with open(os.path.join(tree.root, path), encoding="utf-8") as file:
                        yield path, file.read()


def without_blocks(text):
    """Blocks of code blanked out, line for line."""
    return re.sub(r"^```.*?^```", lambda block: "\n" * block[0].count("\n"), text,
                  flags=re.M | re.S)


def words_in_backticks(text):
    for number, line in enumerate(without_blocks(text).split("\n"), 1):
        for word in re.findall(r"`([^`]+)`", line):
            yield number, word


def comments(source):
    """The text of the comments, those of neighbouring lines in one: a phrase may span two."""
    sign = "--" if source.kind == "sql" else "//"
    text = source.text
    if sign == "//":
        literal = r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\''
        text = re.sub(literal, "", text, flags=re.S)
    found = [line.partition(sign)[2].strip() if sign in line else None
             for line in text.split("\n")]
    joined = "\n".join("" if line is None else line for line in found)
    return re.sub(r"(?<=\S)\n(?=\S)", " ", joined)


def the_architecture_fits_130_lines(tree):
    with open(os.path.join(tree.root, ARCHITECTURE), encoding="utf-8") as file:
        lines = len(file.read().splitlines())
    if lines > ARCHITECTURE_LINES_MAX:
        yield (f"{ARCHITECTURE}: {lines} lines (allowed: {ARCHITECTURE_LINES_MAX}); a decision "
               f"belongs beside its code, as DECISION-*.md")


def paths_named_in_documents_exist(tree):
    paths = 0
    names = {os.path.basename(source.path) for source in tree.sources}
    tops = "|".join(map(re.escape, TOP_FOLDERS))
    for document, text in documents(tree, *TOP_FOLDERS, "README.md"):
        here = os.path.dirname(document)
        for number, word in words_in_backticks(text):
            if re.fullmatch(rf"(?:{tops})/[\w./*-]*", word):
                paths += 1
                if not glob.glob(os.path.join(tree.root, word)):
                    yield f"{document}:{number}: there is no {word}"
            elif document.startswith("src/") and re.fullmatch(
                    rf"\w+\.(?:{'|'.join(FILE_ENDINGS)})", word):
                paths += 1
                if word not in names and not glob.glob(os.path.join(tree.root, here, word)):
                    yield f"{document}:{number}: there is no file {word}"
        for link in re.findall(r"\]\(([^)#]+)", without_blocks(text)):
            if "://" not in link:
                paths += 1
                if not os.path.exists(os.path.join(tree.root, here, link)):
                    yield f"{document}: there is no {link}"
    if paths < 100:
        yield f"only {paths} paths were found: the check itself is broken"


def comments_use_the_words_of_the_field(tree):
    counts = {word: {} for word in BANNED_WORDS}
    for source in tree.sources:
        if not source.path.startswith(("src/", "include/")):
            continue
        if not source.is_cpp() and source.kind != "sql":
            continue
        text = comments(source)
        for word, (pattern, _, _) in BANNED_WORDS.items():
            if not source.path.startswith(RIGHT_WORDS.get(word, ())):
                found = len(re.findall(rf"(?<![\w-]){pattern}(?![\w-])", text, re.I))
                if found:
                    counts[word][source.path] = found
    for word, (_, instead, allowed) in BANNED_WORDS.items():
        count = sum(counts[word].values())
        if count > allowed:
            most = sorted(counts[word], key=lambda path: (-counts[word][path], path))[:5]
            yield (f'"{word}" stands {count} times in comments (allowed: {allowed}); say '
                   f"{instead}. Most often in: "
                   + ", ".join(f"{path} ({counts[word][path]})" for path in most))
        elif count < allowed:
            tree.notes.append(f'BANNED_WORDS: "{word}" may go down to {count}')


WORD_CHECKS = (
    the_architecture_fits_130_lines,
    paths_named_in_documents_exist,
    comments_use_the_words_of_the_field,
)
