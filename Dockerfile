# SPDX-License-Identifier: Apache-2.0
# An image of pwlc alone: docker build -t pwlc . && docker run --rm -v "$PWD:/work" pwlc list functions
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends build-essential meson ninja-build pkg-config libgsl-dev \
    libjansson-dev nettle-dev libmpfr-dev
COPY . /source
RUN meson setup /build /source --buildtype=release -Dstatic_pwlc=true -Dtests=disabled -Dcuda=disabled -Dpython=disabled \
    && ninja -C /build fitter/pwlc && strip /build/fitter/pwlc

FROM scratch
COPY --from=build /build/fitter/pwlc /pwlc
WORKDIR /work
ENTRYPOINT ["/pwlc"]
