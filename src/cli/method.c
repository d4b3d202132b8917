#include "cli/method.h"

cli_method cli_method_defaults(void)
{
    invit_solve_options d = invit_solve_defaults();
    return (cli_method){.construct = d.construct,
                        .decode = d.decode,
                        .beam = d.beam,
                        .improve = d.improve,
                        .temperature = d.temperature,
                        .iterations = d.iterations};
}

void cli_method_fill(const cli_method *m, const cli_args *args, invit_solve_options *o)
{
    o->construct = (invit_construct)m->construct;
    o->decode = (invit_decode)m->decode;
    if (!cli_given(args, "decode")) {
        if (cli_given(args, "beam")) o->decode = INVIT_DECODE_BEAM;
        if (cli_given(args, "temperature")) o->decode = INVIT_DECODE_SAMPLE;
    }
    o->beam = m->beam;
    o->improve = (invit_improve)m->improve;
    o->temperature = m->temperature;
    o->iterations = m->iterations;
}
