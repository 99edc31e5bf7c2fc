/* end.h - closes the declarations of every header here (begin.h). */
#ifdef __cplusplus
}
#endif
