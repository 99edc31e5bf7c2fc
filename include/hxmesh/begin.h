/* begin.h - opens the declarations of every header here, for C and C++; end.h closes them. Without include guards: both
 * are included repeatedly. */
#ifdef __cplusplus
#define HX_STATIC_ASSERT static_assert
extern "C" {
#else
#define HX_STATIC_ASSERT _Static_assert
#endif
