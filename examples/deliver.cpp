// The same from C++: deliveries from a depot, with the handles in smart pointers. FILE is a table of stops
// (examples/deliveries.csv) or any other instance; without one the stops are random.
//
//     c++ deliver.cpp -o deliver $(pkg-config --cflags --libs invit) && ./deliver [FILE]
#include <invit.h>

#include <cstdio>
#include <memory>
#include <random>
#include <vector>

int main(int argc, char **argv)
{
    std::mt19937 random(1);
    std::uniform_real_distribution<double> place(0, 1000);
    std::uniform_int_distribution<std::int64_t> amount(1, 9);
    const std::int64_t customers = 60;
    std::vector<double> xy;
    std::vector<std::int64_t> demand;
    for (std::int64_t i = 0; i <= customers; i++) { // node 0 is the depot
        xy.push_back(place(random));
        xy.push_back(place(random));
        demand.push_back(i == 0 ? 0 : amount(random));
    }

    invit_error err;
    invit_instance *p = nullptr;
    if ((argc > 1 ? invit_instance_read(argv[1], 0, &p, &err)
                  : invit_instance_create_cvrp(xy.data(), demand.data(), customers + 1, 50, INVIT_EUC_2D, &p,
                                               &err)) != INVIT_OK) {
        std::fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    std::unique_ptr<invit_instance, void (*)(invit_instance *)> instance(p, invit_instance_destroy);

    std::unique_ptr<invit_options, void (*)(invit_options *)> options(invit_options_create(),
                                                                      invit_options_destroy);
    invit_solution *s = nullptr;
    const char *construct = invit_instance_problem(p) == INVIT_CVRP ? "savings" : "greedy";
    if (invit_options_set(options.get(), "construct", construct, &err) != INVIT_OK ||
        invit_options_set(options.get(), "time", "0.5", &err) != INVIT_OK ||
        invit_solve(instance.get(), nullptr, options.get(), &s, &err) != INVIT_OK) {
        std::fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    std::unique_ptr<invit_solution, void (*)(invit_solution *)> solution(s, invit_solution_destroy);
    std::printf("%d vehicles, length %.0f\n", static_cast<int>(invit_solution_routes(s)),
                invit_solution_get(s, "length"));
}
