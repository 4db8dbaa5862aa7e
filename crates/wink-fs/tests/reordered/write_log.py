"""A disk that writes down what is written to it and when it is flushed, for nbdkit.

Each write is its offset and its length (64 bits each, little endian) and its bytes; a flush is a
write of nothing at the last offset of all.
"""

import io
import os
import struct

import nbdkit

API_VERSION = 2
FLUSH = struct.pack("<QQ", 2**64 - 1, 0)
places = {}


def config(key, value):
    places[key] = value


def get_ready():
    places["disk"] = os.open(places["image"], os.O_RDWR)
    places["written"] = io.FileIO(places["log"], "ab")


# One request at a time, so that the log has the order in which they were done.
def thread_model():
    return nbdkit.THREAD_MODEL_SERIALIZE_ALL_REQUESTS


def open(readonly):
    return places


def get_size(handle):
    return os.fstat(handle["disk"]).st_size


def pread(handle, buffer, offset, flags):
    buffer[:] = os.pread(handle["disk"], len(buffer), offset)


def pwrite(handle, buffer, offset, flags):
    os.pwrite(handle["disk"], buffer, offset)
    handle["written"].write(struct.pack("<QQ", offset, len(buffer)) + bytes(buffer))


def flush(handle, flags):
    handle["written"].write(FLUSH)
