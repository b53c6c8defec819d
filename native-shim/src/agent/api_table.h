/* The table of functions and addresses that Java gets. */
#ifndef MDL_API_TABLE_H
#define MDL_API_TABLE_H

#include <mdl/api.h>

const struct mdl_api *api_table(void);

#endif
