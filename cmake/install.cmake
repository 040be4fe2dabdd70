# What is installed, and where.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME ringdeald) # what no package of its own has
set(RINGDEAL_PRELOAD_DIRECTORY ${CMAKE_INSTALL_LIBDIR}/ringdeal)

install(TARGETS ringdeald RUNTIME DESTINATION ${CMAKE_INSTALL_SBINDIR})
install(TARGETS ringdeal RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS ringdeal_library
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libringdeal1 NAMELINK_COMPONENT libringdeal-dev
        PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ringdeal COMPONENT libringdeal-dev)
configure_file(${CMAKE_CURRENT_LIST_DIR}/ringdeal.pc.in ${PROJECT_BINARY_DIR}/ringdeal.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ringdeal.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT libringdeal-dev)

install(DIRECTORY config/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
        FILES_MATCHING PATTERN "*.yaml" PATTERN "*.json" PATTERN "*.cfg")
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png"
        PATTERN man EXCLUDE)
install(FILES docs/man/ringdeal.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES docs/man/ringdeal.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT libringdeal-dev)
install(FILES docs/man/ringdeal.yaml.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
install(FILES docs/man/ringdeald.8 DESTINATION ${CMAKE_INSTALL_MANDIR}/man8)

# bash looks for a file by the name of the command; zsh of Debian looks in another place under /usr.
foreach(command ringdeal ringdeald)
  install(FILES cli/completion/ringdeal.bash RENAME ${command}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endforeach()
if(CMAKE_INSTALL_PREFIX STREQUAL /usr)
  install(FILES cli/completion/_ringdeal DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
else()
  install(FILES cli/completion/_ringdeal DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()

if(APPLE)
  install(FILES launchd/org.ringdeal.ringdeald.plist DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
else()
  install(TARGETS ringdeal-preload LIBRARY DESTINATION ${RINGDEAL_PRELOAD_DIRECTORY})
  include(cmake/systemd.cmake)
  include(cmake/packages.cmake)
endif()
