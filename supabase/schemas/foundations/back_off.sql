-- Returns how long to wait after p_attempts attempts: three times longer after each one, but at
-- most p_longest. Varies by 20 % up or down, so that work that failed together is not all retried
-- at once.
create function logloom_private.back_off(p_attempts integer, p_first interval, p_longest interval)
returns interval
language sql
volatile
-- The factor is at most 3^20, so that the interval does not overflow. By then p_longest applies.
return (0.8 + 0.4 * random()) * least(p_first * power(3, least(p_attempts - 1, 20)), p_longest);
