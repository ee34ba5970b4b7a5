#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What is linked into a program, as SPDX 2.3.

    sbom.py NAME VERSION EPOCH MAP ROOT PROGRAM

The linker's map says which archives, ROOT/packages.txt, and dpkg for the compiler's own, of which packages they are.
"""
import datetime
import hashlib
import json
import pathlib
import re
import subprocess
import sys

# By Debian's source package. A library that is not listed is a failure, not a guess.
LICENCES = {
    "gsl": "GPL-3.0-or-later",
    "jansson": "MIT",
    "nettle": "LGPL-3.0-or-later OR GPL-2.0-or-later",
    "gmp": "LGPL-3.0-or-later OR GPL-2.0-or-later",
    "mpfr4": "LGPL-3.0-or-later",
    "glibc": "LGPL-2.1-or-later",
    "gcc": "GPL-3.0-or-later WITH GCC-exception-3.1",
}


def linked(map_file):
    """Archives and objects of which the linker took something, by path."""
    text = pathlib.Path(map_file).read_text(errors="replace")
    members = re.findall(r"^(/\S+\.a)\(", text, re.M)
    objects = re.findall(r"^LOAD (/\S+\.o)$", text, re.M)
    return sorted(set(members + objects))


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def packages(paths, root):
    """{source package: version} of them."""
    owner = dict(line.split(" ", 1) for line in (root / "packages.txt").read_text().splitlines())
    found = {}
    for path in map(pathlib.Path, paths):
        path = path.resolve()
        if path.is_relative_to(root):
            name = "/" + str(path.relative_to(root))
            source, version = (owner.get(name) or owner[name.removeprefix("/usr")]).split()
        else:
            package = output_of("dpkg", "-S", path).partition(":")[0]
            form = "${source:Package} ${source:Version}"
            source, version = output_of("dpkg-query", "-W", "-f", form, package).split()
            source = "gcc" if re.match(r"gcc-\d+", source) else source
        found[source] = version
    return found


def entry(name, version, licence, **more):
    return {"SPDXID": f"SPDXRef-{name}", "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
            "copyrightText": "NOASSERTION", **more}


def relation(of, kind, to):
    return {"spdxElementId": f"SPDXRef-{of}", "relationshipType": kind, "relatedSpdxElement": f"SPDXRef-{to}"}


def library(source, version):
    purl = f"pkg:deb/debian/{source}@{version}?arch=source"
    return entry(source, version, LICENCES[source], supplier="Organization: Debian",
                 externalRefs=[{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                "referenceLocator": purl}])


def main():
    name, version, epoch, map_file, root, program = sys.argv[1:]
    digest = hashlib.sha256(pathlib.Path(program).read_bytes()).hexdigest()
    inside = packages(linked(map_file), pathlib.Path(root).resolve())
    if not {"gsl", "jansson", "nettle", "mpfr4", "gmp", "glibc"} <= set(inside):
        sys.exit(f"sbom.py: {map_file} shows no more than {sorted(inside)}")
    created = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"{name}-{version}",
        "documentNamespace": f"urn:sha256:{digest}",
        "creationInfo": {"created": created, "creators": ["Tool: sbom.py"]},
        "packages": [entry(name, version, "GPL-3.0-or-later AND Apache-2.0",
                           checksums=[{"algorithm": "SHA256", "checksumValue": digest}]),
                     *(library(source, inside[source]) for source in sorted(inside))],
        "relationships": [relation("DOCUMENT", "DESCRIBES", name),
                          *(relation(name, "STATIC_LINK", source) for source in sorted(inside))],
    }
    print(json.dumps(document, indent=1))


main()
