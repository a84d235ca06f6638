// Package backup defines backups of the database, and what the verification of one has found: that it can be restored, how long
// that takes, and how much would be lost.
//
// It reads no files. Backups are found and restored by adapters.
package backup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Backup is a copy of the whole database server that can be restored.
type Backup struct {
	// Label names it: its folder, or its label in pgBackRest.
	Label string
	// Began is when the copy was begun. What was committed since is in the archive of write-ahead logs only.
	Began time.Time
	// Bytes are those of its restored files; less if that is not known before.
	Bytes int64
}

// Newest returns the backup that was begun last. It reports false if there is none.
func Newest(found []Backup) (Backup, bool) {
	if len(found) == 0 {
		return Backup{}, false
	}
	return slices.MaxFunc(found, func(a, b Backup) int { return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.Label, b.Label)) }), true
}

// Recovery is what a restored server has reached.
type Recovery struct {
	// System identifies the server that was copied: it is the same for its standbys and copies.
	System string
	// Position is that in the write-ahead log, "0/5000148", and Segment the name of the last file that was needed.
	Position, Segment string
	// LastCommit is the time of the last transaction that was recovered from the logs; zero if there was none after the backup.
	LastCommit time.Time
	// Bytes are those of the restored files.
	Bytes int64
}

// Verification is the result of one verification of a backup.
type Verification struct {
	// Began is when the verification was begun.
	Began time.Time
	// Backup is zero if there is none.
	Backup   Backup
	Recovery Recovery
	// Restored is how long the files took to be copied, and the server to recover and to accept connections.
	Restored time.Duration
	// Postings are those that were checked.
	Postings int64
	// Unreached are the postings that were published in checkpoints and that the restored ledger does not have: they were
	// posted after the last log of the archive.
	Unreached int64
	// Problem is why the backup is not usable; empty if it is.
	Problem string
}

// Age returns how old the backup was.
func (v Verification) Age() time.Duration { return since(v.Began, v.Backup.Began) }

// Exposure returns how much would have been lost: the time since the last commit that was recovered.
func (v Verification) Exposure() time.Duration {
	if v.Recovery.LastCommit.IsZero() {
		return v.Age()
	}
	return since(v.Began, v.Recovery.LastCommit)
}

// since returns zero for a later time: the logs of an archive grow while one of its backups is verified.
func since(now, earlier time.Time) time.Duration {
	if earlier.IsZero() {
		return 0
	}
	return max(0, now.Sub(earlier))
}

// Segments are names of files of write-ahead logs, in any order, as an archive has them.
type Segments []string

// segmentNameLength is that of "000000010000000000000003": eight digits each of the timeline, the log and the segment.
const segmentNameLength = 24

// timelineLength is that of the timeline in the name of a segment.
const timelineLength = 8

// CheckReached returns an error if an archive had later logs than the last segment that was recovered. If they are of its timeline,
// recovery has ended where one is missing or damaged; if of a higher one, which begins with a failover, it was not followed. Later
// logs of a lower timeline are those of a server that went on after it was replaced.
func (s Segments) CheckReached(last string) error {
	if !isSegment(last) {
		return nil
	}
	timeline, position := last[:timelineLength], last[timelineLength:]
	var later, higher []string
	for _, name := range s {
		switch {
		case !isSegment(name) || name[timelineLength:] <= position:
		case name[:timelineLength] == timeline:
			later = append(later, name)
		case name[:timelineLength] > timeline:
			higher = append(higher, name)
		}
	}
	switch {
	case len(later) > 0:
		return fmt.Errorf("recovery ended with the log %s, but the archive has later ones, from %s to %s: a log between them is missing or "+
			"damaged, and nothing after it can be recovered", last, slices.Min(later), slices.Max(later))
	case len(higher) > 0:
		return fmt.Errorf("recovery ended with the log %s, but the archive has later ones of a timeline that was not followed, from %s to %s: "+
			"look for the files *.history of the timelines after %s, which a failover begins with", last, slices.Min(higher),
			slices.Max(higher), timeline)
	}
	return nil
}

// isSegment reports whether a name is that of a segment, and not of a history or a partial one.
func isSegment(name string) bool {
	return len(name) == segmentNameLength && strings.Trim(name, "0123456789ABCDEF") == ""
}
