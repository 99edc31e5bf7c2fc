/* class_report.h - how busy the links of each class were: on grids a class is a dimension. */
#ifndef CLASS_REPORT_H
#define CLASS_REPORT_H

#include "fabric-emu/report/result.h"

/* Prints a line: the mean of each class. Nothing, if all links are of one class. */
void class_report_print(const struct result *r);
/* An object for each class that has links: its name, their number, mean and largest share of the time. */
json_t *class_report_json(const struct result *r);

#endif
