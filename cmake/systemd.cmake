# The units, made of one text for the only ringdeald of a machine and for instances, and the drop-ins,
# which name the installed shim.
set(NOTE "")
set(OF_INSTANCE "")
set(DIRECTORY ringdeal)
configure_file(systemd/ringdeal.service.in ${PROJECT_BINARY_DIR}/systemd/ringdeal.service @ONLY)
string(CONCAT NOTE
  "# One of several on a machine, each with a directory for its configuration and its control socket:\n"
  "# /etc/ringdeal/NAME/ringdeal.yaml must give it another port than the others have (http: bind).\n"
  "# Servers find it by RINGDEAL_CONTROL=/run/ringdeal/NAME/control.sock.\n")
set(OF_INSTANCE " %i")
set(DIRECTORY ringdeal/%i)
configure_file(systemd/ringdeal.service.in ${PROJECT_BINARY_DIR}/systemd/ringdeald@.service @ONLY)

# Not under LIBDIR: systemd looks in lib/systemd whatever the architecture.
install(FILES ${PROJECT_BINARY_DIR}/systemd/ringdeal.service
              ${PROJECT_BINARY_DIR}/systemd/ringdeald@.service
              systemd/ringdeal.socket systemd/ringdeal-app.socket
        DESTINATION lib/systemd/system)
install(FILES systemd/sysusers.conf DESTINATION lib/sysusers.d RENAME ringdeal.conf)
install(FILES systemd/tmpfiles.conf DESTINATION lib/tmpfiles.d RENAME ringdeal.conf)

set(RINGDEAL_PRELOAD_PATH ${CMAKE_INSTALL_PREFIX}/${RINGDEAL_PRELOAD_DIRECTORY}/libringdeal-preload.so)
foreach(drop_in preload nginx php-fpm gunicorn)
  configure_file(systemd/drop-ins/${drop_in}.conf.in ${PROJECT_BINARY_DIR}/systemd/${drop_in}.conf @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/systemd/${drop_in}.conf DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
endforeach()
install(FILES systemd/drop-ins/low-ports.conf DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
