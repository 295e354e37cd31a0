//! Loops and joins by the line that calls them.

use super::*;

impl Seen {
    pub(super) fn show_sites(&self, frame: &mut Frame) {
        let per_ms = ticks_per_us().max(1) as f64 * 1e3;
        // A line can have several calls, and the compiler may have made one more than once.
        let mut lines: HashMap<(&str, String), (Site, f64, f64)> = HashMap::new();
        for site in engine::sites() {
            let numbers = site.numbers();
            let seen = self.sites.get(&key(site));
            if numbers.calls == 0 && seen.is_none() {
                continue;
            }
            let at = line(site.location);
            let (shown, work, wall) = lines.entry((site.kind, at)).or_default();
            shown.calls += numbers.calls;
            shown.items += numbers.items;
            shown.time += numbers.ticks as f64 / per_ms;
            shown.longest = shown.longest.max(numbers.longest as f64 / per_ms);
            if let Some(seen) = seen {
                shown.most_threads = shown.most_threads.max(seen.most);
                *work += seen.work;
                *wall += seen.wall;
            }
        }
        let shown = lines.into_iter().map(|((kind, at), (site, work, wall))| {
            let threads = work / wall.max(1e-9);
            Site {
                kind,
                at,
                threads,
                ..site
            }
        });
        frame.sites.extend(shown);
        frame
            .sites
            .sort_by(|a, b| b.time.total_cmp(&a.time).then(a.at.cmp(&b.at)));
    }
}

pub(super) fn key(site: &'static CallSite) -> usize {
    std::ptr::from_ref(site) as usize
}
