/* The files of web/, embedded by the build (cmake/embed.cmake). */
#ifndef INVIT_SERVE_ASSETS_H
#define INVIT_SERVE_ASSETS_H

#include <stddef.h>

typedef struct serve_asset {
    const char *name, *type;
    const unsigned char *bytes;
    size_t length;
} serve_asset;

extern const serve_asset serve_assets[]; /* ends with name == NULL */

#endif
