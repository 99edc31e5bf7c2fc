/* begin.h - stands before the declarations of every header here, end.h behind them: they are the same for C and C++.
 * No include guard: both are included again and again. */
#ifdef __cplusplus
#define HX_STATIC_ASSERT static_assert
extern "C" {
#else
#define HX_STATIC_ASSERT _Static_assert
#endif
