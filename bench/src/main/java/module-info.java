/// Benchmarks of the agent, beside its peers.
module org.mdlagent.bench {}
