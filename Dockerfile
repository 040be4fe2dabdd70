# ringdeald with the command line and the shim. Servers in other containers reach it through a shared
# volume at /run/ringdeal and the shim, copied from here or from the volume of their own image.
FROM debian:bookworm-slim AS build
WORKDIR /source
COPY scripts/install-dependencies scripts/
RUN scripts/install-dependencies && rm -rf /var/lib/apt/lists/*
COPY . .
RUN cmake --preset release -DCMAKE_INSTALL_PREFIX=/usr \
    && cmake --build build/release --parallel \
    && DESTDIR=/install cmake --install build/release --strip

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
       libevent-core-2.1-7 libevent-extra-2.1-7 libevent-pthreads-2.1-7 libfmt9 libhwloc15 \
       libprometheus-cpp-core1.0 libyaml-cpp0.7 \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --system --gid 990 ringdeal \
    && useradd --system --uid 990 --gid 990 --no-create-home --home-dir /run/ringdeal ringdeal \
    && install -d -o ringdeal -g ringdeal /run/ringdeal
COPY --from=build /install/ /
USER ringdeal
# For a user other than root the control socket is $XDG_RUNTIME_DIR/ringdeal/control.sock.
ENV XDG_RUNTIME_DIR=/run
VOLUME /run/ringdeal
HEALTHCHECK --interval=10s --timeout=2s CMD ["ringdeal", "status"]
ENTRYPOINT ["ringdeald"]
