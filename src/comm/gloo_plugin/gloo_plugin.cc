// The only file that includes Gloo's headers (see gloo_table.h). It uses nothing of libsindri, and no exception escapes.
#include <gloo/transport/context.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "src/comm/gloo_table.h"

namespace sindri::comm {

struct GlooMesh {
  std::shared_ptr<gloo::transport::Device> device;
  std::shared_ptr<gloo::transport::Context> context;
};
struct GlooMessage {
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer;
  bool send;
};

namespace {

constexpr std::chrono::hours kForever(100);  // longer times overflow inside Gloo

// Gloo's messages start with a place in its source.
void put(GlooError* error, const char* what) {
  std::string text = what;
  if (!text.empty() && text[0] == '[') {
    const size_t end = text.find("] ");
    if (end != std::string::npos) text = text.substr(end + 2);
  }
  std::strncpy(error->text, text.c_str(), sizeof error->text - 1);
  error->text[sizeof error->text - 1] = '\0';
}

template <class F, class R> R guarded(GlooError* error, R failed, F f) {
  try {
    return f();
  } catch (const std::exception& e) { put(error, e.what()); } catch (...) {
    put(error, "an unknown exception");
  }
  return failed;
}

GlooMesh* open(const char* address, int rank, int size, int64_t connect_ms, GlooError* error) {
  return guarded(error, static_cast<GlooMesh*>(nullptr), [&] {
    auto mesh = std::make_unique<GlooMesh>();
    mesh->device = gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr(address));
    mesh->context = mesh->device->createContext(rank, size);
    mesh->context->setTimeout(std::chrono::milliseconds(connect_ms / 5 + 1));  // Gloo multiplies this timeout by five for connections
    for (int peer = 0; peer < size; ++peer)
      if (peer != rank) mesh->context->createPair(peer);
    return mesh.release();
  });
}

int address(GlooMesh* mesh, int peer, char* bytes, int capacity, GlooError* error) {
  return guarded(error, -1, [&] {
    const std::vector<char> all = mesh->context->getPair(peer)->address().bytes();
    if (all.size() > static_cast<size_t>(capacity)) {
      put(error, "an address that is too long");
      return -1;
    }
    std::copy(all.begin(), all.end(), bytes);
    return static_cast<int>(all.size());
  });
}

int connect(GlooMesh* mesh, int peer, const char* bytes, int size, GlooError* error) {
  return guarded(error, -1, [&] {
    mesh->context->getPair(peer)->connect(std::vector<char>(bytes, bytes + size));
    return 0;
  });
}

void cut(GlooMesh* mesh) {
  GlooError error;
  for (int peer = 0; peer < mesh->context->size; ++peer) {
    if (peer == mesh->context->rank) continue;
    guarded(&error, 0, [&] {
      mesh->context->getPair(peer)->close();
      return 0;
    });
  }
}

void close(GlooMesh* mesh) { delete mesh; }

GlooMessage* post(GlooMesh* mesh, int peer, void* data, int64_t bytes, uint64_t slot, int send, GlooError* error) {
  return guarded(error, static_cast<GlooMessage*>(nullptr), [&] {
    auto message = std::make_unique<GlooMessage>();
    message->send = send != 0;
    message->buffer = mesh->context->createUnboundBuffer(data, static_cast<size_t>(bytes));
    if (message->send) message->buffer->send(peer, slot);
    else message->buffer->recv(peer, slot);
    return message.release();
  });
}

int wait(GlooMessage* message, GlooError* error) {
  return guarded(error, -1, [&] {
    const bool done = message->send ? message->buffer->waitSend(nullptr, kForever) : message->buffer->waitRecv(nullptr, kForever);
    return done ? 0 : 1;
  });
}

void abort(GlooMessage* message) {
  if (message->send) message->buffer->abortWaitSend();
  else message->buffer->abortWaitRecv();
}

void release(GlooMessage* message) { delete message; }

constexpr GlooTable kTable = {GlooTable::kVersion, open, address, connect, cut, close, post, wait, abort, release};

}  // namespace

}  // namespace sindri::comm

extern "C" __attribute__((visibility("default"))) const sindri::comm::GlooTable* sindri_gloo_table();
const sindri::comm::GlooTable* sindri_gloo_table() { return &sindri::comm::kTable; }
