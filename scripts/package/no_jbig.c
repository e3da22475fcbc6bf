/* Replaces libjbig in the wheel. Debian's libtiff links to libjbig for one fax compression, but its licence, the GPL, does not suit a package under the
 * Apache licence. Reading an image with this compression fails like reading a damaged one; Sindri never writes such images. Signatures as libtiff calls them. */
#include <stddef.h>

void jbg_dec_init(void* state) { (void)state; }
int jbg_dec_in(void* state, unsigned char* data, size_t bytes, size_t* used) {
  (void)state, (void)data, (void)bytes;
  if (used != NULL) *used = 0;
  return 0x40; /* libjbig's code for: not implemented */
}
unsigned char* jbg_dec_getimage(const void* state, int plane) {
  (void)state, (void)plane;
  return NULL;
}
unsigned long jbg_dec_getsize(const void* state) {
  (void)state;
  return 0;
}
void jbg_dec_free(void* state) { (void)state; }
void jbg_enc_init(void* state, unsigned long x, unsigned long y, int planes, unsigned char** data, void (*out)(unsigned char*, size_t, void*), void* file) {
  (void)state, (void)x, (void)y, (void)planes, (void)data, (void)out, (void)file;
}
void jbg_enc_out(void* state) { (void)state; }
void jbg_enc_free(void* state) { (void)state; }
int jbg_newlen(unsigned char* data, size_t bytes) {
  (void)data, (void)bytes;
  return 0;
}
const char* jbg_strerror(int code) {
  (void)code;
  return "this package does not read JBIG images";
}
