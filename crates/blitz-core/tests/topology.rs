//! Pools that are made for a machine's cores and nodes, and machines that are made up.
#![cfg(not(loom))]

use blitz_core::{Cpu, Share, ThreadPoolBuilder, Topology};
use std::fs;
use std::path::PathBuf;

/// Two sockets with two cores of two threads each, as Linux numbers them: the second threads come last.
fn two_sockets() -> Vec<Cpu> {
    let cpu = |id| Cpu {
        id,
        core: id % 4,
        node: id % 4 / 2,
    };
    (0..8).map(cpu).collect()
}

#[test]
fn cores_and_nodes_are_found_in_a_machine_that_is_made_up() {
    let machine = Topology::new(two_sockets().into_iter().rev()).unwrap();
    assert_eq!(machine.cores(), [[0, 4], [1, 5], [2, 6], [3, 7]]);
    assert_eq!(machine.nodes(), [[0, 1, 4, 5], [2, 3, 6, 7]]);
    assert_eq!(machine.cpus(), two_sockets());
}

/// Who numbers the cores of each node from 0 on is told so, and gets no pool of half as many workers.
#[test]
fn a_core_on_two_nodes_is_an_error_that_says_what_to_do() {
    let cpu = |id| Cpu {
        id,
        core: id % 4,
        node: id / 4,
    };
    let error = Topology::new((0..8).map(cpu)).unwrap_err().to_string();
    let expected =
        "core 0 has CPU 0 on node 0 and CPU 4 on node 1: cores have numbers of their own";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn a_machine_without_cpus_or_with_one_twice_is_an_error() {
    let error = |cpus: &[Cpu]| Topology::new(cpus.iter().copied()).unwrap_err().to_string();
    assert!(error(&[]).contains("at least one CPU"));
    let cpus = two_sockets();
    assert!(error(&[cpus[3], cpus[1], cpus[3]]).contains("CPU 3 is in the topology twice"));
}

/// A folder as Linux has it, which goes with the value.
struct System(PathBuf);

impl System {
    fn new(name: &str) -> Self {
        let folder = format!("blitz-topology-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        fs::create_dir_all(folder.join("cpu")).unwrap();
        System(folder)
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

impl Drop for System {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn a_machine_is_read_from_files() {
    let system = System::new("whole");
    for (id, siblings) in ["0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7"]
        .iter()
        .enumerate()
    {
        system.file(
            &format!("cpu/cpu{id}/topology/core_cpus_list"),
            &format!("{siblings}\n"),
        );
    }
    // Switched off, and something else.
    system.file("cpu/cpu8/online", "0\n");
    system.file("cpu/cpuidle/current_driver", "none\n");
    system.file("node/node0/cpulist", "0-1,4-5\n");
    system.file("node/node1/cpulist", "2-3,6-7\n");
    let read = Topology::read_from(&system.0).unwrap();
    assert_eq!(read, Topology::new(two_sockets()).unwrap());
}

#[test]
fn an_old_kernel_without_nodes_will_do() {
    let system = System::new("old");
    for id in 0..2 {
        system.file(
            &format!("cpu/cpu{id}/topology/thread_siblings_list"),
            "0-1\n",
        );
    }
    let read = Topology::read_from(&system.0).unwrap();
    assert_eq!(
        (read.cores(), read.nodes()),
        (vec![vec![0, 1]], vec![vec![0, 1]])
    );
}

#[test]
fn what_is_no_machine_is_an_error_that_names_the_file() {
    let error = |path: &PathBuf| Topology::read_from(path).unwrap_err().to_string();
    let nowhere = std::env::temp_dir().join("blitz-no-such-folder");
    assert!(error(&nowhere).contains("blitz-no-such-folder"));
    let system = System::new("broken");
    assert!(error(&system.0).contains("at least one CPU"));
    system.file("cpu/cpu0/topology/core_cpus_list", "zero\n");
    assert!(error(&system.0).contains("core_cpus_list"));
}

#[test]
fn a_topology_that_does_not_exist_is_an_error_that_says_what_to_do() {
    let cpu = |id| Cpu {
        id,
        core: id,
        node: 0,
    };
    let machine = Topology::new([cpu(9_999), cpu(100_000)]).unwrap();
    let built = ThreadPoolBuilder::new()
        .one_worker_per(Share::Core, &machine)
        .build();
    if cfg!(target_os = "linux") {
        let error = built.unwrap_err().to_string();
        assert!(
            error.contains("CPU 9999") && error.contains("Topology::read"),
            "{error}"
        );
    } else {
        assert_eq!(built.unwrap().current_num_threads(), 2);
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;

    /// The CPUs that the calling thread may use.
    fn allowed() -> Vec<usize> {
        // SAFETY: all-zero bits are an empty set, the kernel writes no more than its size, and the indices are inside.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::sched_getaffinity(0, size_of_val(&set), &raw mut set);
            let all = 0..libc::CPU_SETSIZE as usize;
            all.filter(|&cpu| libc::CPU_ISSET(cpu, &set)).collect()
        }
    }

    #[test]
    fn workers_are_bound_to_their_share_of_this_machine() {
        let here = Topology::read().unwrap();
        assert!(here.cpus().iter().map(|cpu| cpu.id).eq(allowed()));
        for (share, shares) in [(Share::Core, here.cores()), (Share::Node, here.nodes())] {
            let pool = ThreadPoolBuilder::new()
                .one_worker_per(share, &here)
                .build();
            assert_eq!(pool.unwrap().broadcast(|_| allowed()), shares);
        }
        // All CPUs as one core: two workers share it. The pool that a fork, or a change of size, makes is as well bound.
        let one = here.cpus().iter().map(|&cpu| Cpu { core: 0, ..cpu });
        let one = Topology::new(one).unwrap();
        let pool = ThreadPoolBuilder::new().one_worker_per(Share::Core, &one);
        let pool = pool.num_threads(2).build().unwrap();
        pool.set_num_threads(3).unwrap();
        assert_eq!(
            pool.broadcast(|_| allowed()),
            [allowed(), allowed(), allowed()]
        );
        let each = ThreadPoolBuilder::new()
            .one_worker_per(Share::Cpu, &one)
            .build();
        assert_eq!(each.unwrap().current_num_threads(), allowed().len());
    }
}
