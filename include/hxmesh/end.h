/* end.h - stands behind the declarations of every header here (begin.h). */
#ifdef __cplusplus
}
#endif
