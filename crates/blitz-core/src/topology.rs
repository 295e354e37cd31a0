//! Which CPUs share a core, and which share memory: read from the system, or made up.
//!
//! Linux tells it in files (`/sys/devices/system/cpu/cpu*/topology`, `/sys/devices/system/node/node*`). A topology is a value like any other: a pool is built from it
//! ([`one_worker_per`](crate::ThreadPoolBuilder::one_worker_per)), and tests build one by hand.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A CPU as the system counts them: a hardware thread.
///
/// ```
/// use blitz_core::{Cpu, Topology};
///
/// // The first thread of the second core.
/// let cpu = Cpu { id: 2, core: 1, node: 0 };
/// assert_eq!(Topology::new([cpu])?.cpus(), [cpu]);
/// # std::io::Result::Ok(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cpu {
    /// Its number.
    pub id: usize,
    /// The core that it is a part of: CPUs with the same number here are threads of one core.
    pub core: usize,
    /// The node whose memory is near.
    pub node: usize,
}

/// The CPUs of a machine, or of as much of it as the process may use.
///
/// ```
/// use blitz_core::{Cpu, Topology};
/// // Two cores of two threads each.
/// let cpu = |id| Cpu { id, core: id / 2, node: 0 };
/// let made_up = Topology::new((0..4).map(cpu)).unwrap();
/// assert_eq!(made_up.cores(), [[0, 1], [2, 3]]);
/// assert_eq!(made_up.nodes(), [[0, 1, 2, 3]]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// By number.
    cpus: Vec<Cpu>,
}

/// What a pool has one worker for: see [`one_worker_per`](crate::ThreadPoolBuilder::one_worker_per).
///
/// ```
/// use blitz_core::{Cpu, Share, ThreadPoolBuilder, Topology};
///
/// // A made-up machine: one core of two threads, of which this process may use the first.
/// let here = Topology::new([Cpu { id: 0, core: 0, node: 0 }])?;
/// let builder = ThreadPoolBuilder::new().one_worker_per(Share::Core, &here);
/// # let _ = builder;
/// # std::io::Result::Ok(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Share {
    /// Each CPU: each thread of a core.
    Cpu,
    /// Each core, whatever its number of threads.
    Core,
    /// Each node: all CPUs that are near to the same memory.
    Node,
}

impl Topology {
    /// Of these CPUs.
    ///
    /// # Errors
    /// If there is none, if two have the same number, or if two of one core are on different nodes.
    ///
    /// ```
    /// use blitz_core::{Cpu, Topology};
    ///
    /// assert!(Topology::new([]).is_err());
    /// let cpu = Cpu { id: 0, core: 0, node: 0 };
    /// assert_eq!(Topology::new([cpu])?.cores(), [[0]]);
    /// assert!(Topology::new([cpu, cpu]).is_err());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn new(cpus: impl IntoIterator<Item = Cpu>) -> io::Result<Self> {
        let mut cpus: Vec<Cpu> = cpus.into_iter().collect();
        cpus.sort_unstable_by_key(|cpu| cpu.id);
        if cpus.is_empty() {
            return Err(invalid("a topology has at least one CPU"));
        }
        if let Some(pair) = cpus.windows(2).find(|pair| pair[0].id == pair[1].id) {
            let id = pair[0].id;
            return Err(invalid(&format!("CPU {id} is in the topology twice")));
        }
        let mut homes = BTreeMap::new();
        for cpu in &cpus {
            let first = *homes.entry(cpu.core).or_insert(cpu);
            if first.node != cpu.node {
                return Err(invalid(&format!(
                    "core {} has CPU {} on node {} and CPU {} on node {}: cores have numbers of their own, across all nodes",
                    cpu.core, first.id, first.node, cpu.id, cpu.node
                )));
            }
        }
        Ok(Topology { cpus })
    }

    /// This machine, as far as the calling thread may use it. Reads some files.
    ///
    /// # Errors
    /// Where the system does not tell (anywhere but on Linux), and if the files cannot be read.
    ///
    /// ```
    /// # use blitz_core::Topology;
    /// match Topology::read() {
    ///     Ok(here) => println!("{} cores, {} nodes", here.cores().len(), here.nodes().len()),
    ///     Err(error) => println!("nobody knows: {error}"),
    /// }
    /// ```
    pub fn read() -> io::Result<Self> {
        let Some(allowed) = crate::placement::allowed_cpus() else {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "this system does not tell which CPUs share a core: make a Topology by hand (Topology::new)",
            ));
        };
        let all = Self::read_from("/sys/devices/system")?;
        let cpus = all.cpus.into_iter();
        Self::new(cpus.filter(|cpu| allowed.contains(&cpu.id)))
    }

    /// Whatever a folder says that is built like `/sys/devices/system` of Linux: a copy of another machine's, say.
    ///
    /// # Errors
    /// If it is not, or cannot be read.
    ///
    /// ```
    /// # if cfg!(target_os = "linux") {
    /// let machine = blitz_core::Topology::read_from("/sys/devices/system");
    /// println!("{machine:?}");
    /// # }
    /// assert!(blitz_core::Topology::read_from("/no/such/folder").is_err());
    /// ```
    pub fn read_from(system: impl AsRef<Path>) -> io::Result<Self> {
        let system = system.as_ref();
        let mut nodes = BTreeMap::new();
        // A kernel without NUMA has no such folder.
        for (node, path) in numbered(&system.join("node"), "node").unwrap_or_default() {
            for cpu in list(&path.join("cpulist"))? {
                nodes.insert(cpu, node);
            }
        }
        let mut cpus = Vec::new();
        for (id, path) in numbered(&system.join("cpu"), "cpu")? {
            let topology = path.join("topology");
            if !topology.is_dir() {
                // It is switched off.
                continue;
            }
            // The second is what kernels before 5.x call the first.
            let siblings = match list(&topology.join("core_cpus_list")) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    list(&topology.join("thread_siblings_list"))
                }
                read => read,
            }?;
            // Known by its first CPU, and on the node of that.
            let core = siblings.into_iter().min().unwrap_or(id);
            let node = nodes.get(&core).copied().unwrap_or(0);
            cpus.push(Cpu { id, core, node });
        }
        Self::new(cpus).map_err(|error| at(&system.join("cpu"), &error))
    }

    /// All CPUs, by number.
    ///
    /// ```
    /// use blitz_core::{Cpu, Topology};
    ///
    /// let machine = Topology::new([1, 0].map(|id| Cpu { id, core: id, node: 0 }))?;
    /// assert_eq!(machine.cpus()[0].id, 0);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn cpus(&self) -> &[Cpu] {
        &self.cpus
    }

    /// The numbers of the CPUs of each core, the core with the lowest number first.
    ///
    /// ```
    /// use blitz_core::{Cpu, Topology};
    ///
    /// let machine = Topology::new((0..4).map(|id| Cpu { id, core: id % 2, node: 0 }))?;
    /// assert_eq!(machine.cores(), [[0, 2], [1, 3]]);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn cores(&self) -> Vec<Vec<usize>> {
        self.shares(Share::Core)
    }

    /// The numbers of the CPUs of each node.
    ///
    /// ```
    /// use blitz_core::{Cpu, Topology};
    ///
    /// let machine = Topology::new((0..4).map(|id| Cpu { id, core: id, node: id / 2 }))?;
    /// assert_eq!(machine.nodes(), [[0, 1], [2, 3]]);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn nodes(&self) -> Vec<Vec<usize>> {
        self.shares(Share::Node)
    }

    pub(crate) fn shares(&self, share: Share) -> Vec<Vec<usize>> {
        let mut shares: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for cpu in &self.cpus {
            let key = match share {
                Share::Cpu => cpu.id,
                Share::Core => cpu.core,
                Share::Node => cpu.node,
            };
            shares.entry(key).or_default().push(cpu.id);
        }
        shares.into_values().collect()
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// The entries of a folder whose names are `prefix` and a number, by number.
fn numbered(folder: &Path, prefix: &str) -> io::Result<BTreeMap<usize, PathBuf>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(|error| at(folder, &error))? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_prefix(prefix)?.parse().ok());
        if let Some(number) = number {
            found.insert(number, path);
        }
    }
    Ok(found)
}

/// The numbers in a file like `0-3,8,10-11`.
fn list(path: &Path) -> io::Result<Vec<usize>> {
    let text = fs::read_to_string(path).map_err(|error| at(path, &error))?;
    parse(text.trim()).ok_or_else(|| at(path, &invalid("this is no list of CPUs")))
}

fn parse(text: &str) -> Option<Vec<usize>> {
    /// More CPUs than any kernel knows of: a range that is a mistake does not fill the memory.
    const MOST: usize = 1 << 20;
    let mut numbers = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last > MOST {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_read_as_the_kernel_writes_them() {
        assert_eq!(parse("0-3,8,10-11"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(parse(""), Some(vec![]));
        assert_eq!(parse("5"), Some(vec![5]));
        for wrong in ["a", "3-1", "1-", "-1", "0-99999999999", "1;2"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
