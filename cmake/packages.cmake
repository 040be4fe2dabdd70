# The Debian packages, made by scripts/package: the daemon with the command line and the shim, the
# library, and what is needed to compile against it.
set(components ringdeald libringdeal1 libringdeal-dev)

# Each package carries its own copyright and changelog.
file(READ LICENSE license)
string(REGEX REPLACE "^.*maintainers\n\n" "" license "${license}")
string(STRIP "${license}" license)
string(REPLACE "\n\n" "\n.\n" license "${license}")
string(REPLACE "\n" "\n " license "${license}")
file(READ packaging/copyright.head copyright)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/copyright CONTENT "${copyright} ${license}\n" @ONLY)
set(changelog ${PROJECT_BINARY_DIR}/changelog.gz)
add_custom_command(OUTPUT ${changelog} DEPENDS ${PROJECT_SOURCE_DIR}/CHANGELOG.md
                   COMMAND gzip -9nc ${PROJECT_SOURCE_DIR}/CHANGELOG.md > ${changelog})
add_custom_target(changelog ALL DEPENDS ${changelog})
foreach(component ${components})
  install(FILES ${PROJECT_BINARY_DIR}/copyright ${changelog}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${component} COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/compress_manual.cmake)
set(CPACK_PACKAGE_CONTACT "The ringdeal maintainers <maintainers@ringdeal.org>")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_RINGDEALD_PACKAGE_NAME ringdeald)
set(CPACK_DEBIAN_RINGDEALD_PACKAGE_SECTION net)
set(CPACK_DEBIAN_RINGDEALD_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RINGDEALD_PACKAGE_DEPENDS "systemd | adduser, passwd")
set(CPACK_DEBIAN_RINGDEALD_PACKAGE_CONTROL_EXTRA
    ${PROJECT_SOURCE_DIR}/packaging/postinst ${PROJECT_SOURCE_DIR}/packaging/prerm
    ${PROJECT_SOURCE_DIR}/packaging/postrm)
set(CPACK_DEBIAN_RINGDEALD_DESCRIPTION "sidecar that deals accepted connections to workers
 A daemon owns or adopts a listening socket and hands each accepted
 connection to the least loaded of the workers nearest to the CPU that
 received it. Unmodified prefork servers receive by a preload library,
 which is in this package, as is the command line.")

set(CPACK_DEBIAN_LIBRINGDEAL1_PACKAGE_NAME libringdeal1)
set(CPACK_DEBIAN_LIBRINGDEAL1_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRINGDEAL1_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRINGDEAL1_PACKAGE_CONTROL_EXTRA
    ${PROJECT_SOURCE_DIR}/packaging/shlibs ${PROJECT_SOURCE_DIR}/packaging/triggers)
set(CPACK_DEBIAN_LIBRINGDEAL1_DESCRIPTION "receives connections from ringdeald, shared library
 For programs that are written to be workers of ringdeald.")

set(CPACK_DEBIAN_LIBRINGDEAL-DEV_PACKAGE_NAME libringdeal-dev)
set(CPACK_DEBIAN_LIBRINGDEAL-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRINGDEAL-DEV_PACKAGE_DEPENDS "libringdeal1 (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_LIBRINGDEAL-DEV_DESCRIPTION "receives connections from ringdeald, development files
 For programs that are written to be workers of ringdeald.")
include(CPack)
