"""A file system of any size in memory, that only this process and its children see."""
import ctypes
import os

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
MS_REMOUNT = 32
MS_REC = 16384
MS_PRIVATE = 1 << 18


class SmallDisk:
    """Mounted at `folder`, gone with the process. `trouble`: why there is none."""

    def __init__(self, folder):
        self.folder = folder
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.trouble = ""
        os.makedirs(folder, exist_ok=True)
        try:
            self._own_namespace()
            self._mount(None, b"/", None, MS_REC | MS_PRIVATE, None)
            self._mount(b"tmpfs", folder.encode(), b"tmpfs", 0, b"size=1g")
        except OSError as error:
            self.trouble = str(error)

    def _own_namespace(self):
        user, group = os.getuid(), os.getgid()
        flags = CLONE_NEWNS if user == 0 else CLONE_NEWNS | CLONE_NEWUSER
        self._call(self.libc.unshare(flags), "unshare")
        if user == 0:
            return
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"),
                           ("gid_map", f"0 {group} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)

    def _mount(self, source, target, kind, flags, data):
        self._call(self.libc.mount(source, target, kind, ctypes.c_ulong(flags), data), "mount")

    @staticmethod
    def _call(code, name):
        if code != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{name}: {os.strerror(number)}")

    def resize(self, size):
        """What is there already stays, and counts."""
        self._mount(b"tmpfs", self.folder.encode(), b"tmpfs", MS_REMOUNT, b"size=%d" % size)
