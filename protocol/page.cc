#include "protocol/page.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

namespace ringdeal {

MappedPage& MappedPage::operator=(MappedPage&& other) noexcept {
  if (this == &other) return *this;
  if (page_ != nullptr) munmap(page_, kPageBytes);
  page_ = other.page_;
  other.page_ = nullptr;
  return *this;
}

MappedPage::~MappedPage() {
  if (page_ != nullptr) munmap(page_, kPageBytes);
}

Result<MappedPage> MapNewPage(int memory) {
  void* address = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (address == MAP_FAILED) return SystemError{errno, "mmap"};
  return MappedPage(static_cast<Page*>(address));
}

Result<MappedPage> MapReceivedPage(int memory) {
  struct stat status = {};
  if (fstat(memory, &status) != 0) return SystemError{errno, "fstat"};
  if (static_cast<size_t>(status.st_size) != kPageBytes) return SystemError{EPROTO, "page size"};
  Result<MappedPage> mapped = MapNewPage(memory);
  if (!mapped) return mapped;
  const Page::Header& header = (*mapped)->header;
  if (header.magic != kPageMagic || header.version != kPageVersion || header.size != kPageBytes) {
    return SystemError{EPROTO, "page version"};
  }
  return mapped;
}

}  // namespace ringdeal
