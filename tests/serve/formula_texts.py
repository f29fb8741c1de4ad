"""Texts that a spreadsheet might run as formulas, and what it made of a file of them."""
import re
import xml.etree.ElementTree
import zipfile

UNSEEN = ["\n", "\v", "\f", "\r", "\t", "\x01", "\x1f", " ", "\x7f", "\x85", "\u00a0", "\u00ad",
          "\u1680", "\u180e", "\u2000", "\u2003", "\u2009", "\u200a", "\u200b", "\u200d", "\u200e",
          "\u2028", "\u2029", "\u202e", "\u202f", "\u205f", "\u2060", "\u3000", "\ufeff", "\u3164",
          '"', "  \n\ufeff", "\u200b\t "]
STARTS = ["=1+1", "+1+1", "-1+1", "@SUM(1;1)", "\uff1d1+1", "\uff0b1+1", "\uff0d1+1",
          "\uff20SUM(1)", "\u22121+1"]
ENDS = [";", "\t", "\n", "\r\n", ";;", '";', ";\"", '"\n"', "; \ufeff", ",x;"]
FORMULAS = [*STARTS, *(unseen + start for unseen in UNSEEN for start in STARTS),
            *("a" + end + start for end in ENDS for start in STARTS),
            *("a" + end + start + ";b" for end in ENDS for start in STARTS),
            *("=1+1" + end + start for end in ENDS for start in STARTS)]
HARMLESS = ["a=b", "-7", "+5e3", "a;b", "void k<float, -1>(int*)", "f(a, =1)", "x - y", "a\nb", ""]


def formulas_of_xlsx(path):
    """The formulas of a sheet; there should be none."""
    with zipfile.ZipFile(path) as book:
        sheet = xml.etree.ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    return [element.text for element in sheet.iter() if re.sub("^.*}", "", element.tag) == "f"]
