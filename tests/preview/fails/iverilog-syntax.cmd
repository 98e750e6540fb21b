bash sim.sh
