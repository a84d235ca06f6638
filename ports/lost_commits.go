package ports

import (
	"time"

	"causeway/core/ident"
)

// LostCommitKind says what of a commit is known.
type LostCommitKind string

// The kinds of lost commits.
const (
	// LostPosting was committed by a process that still runs; its reference is the id of the posting.
	LostPosting LostCommitKind = "POSTING"
	// LostEvent was delivered as a webhook by a process that still runs; its reference is its name and its id, as the platform got them.
	LostEvent LostCommitKind = "EVENT"
	// LostCheckpoint was published outside the database, for the log of postings or of evidence; its reference is its origin, size and
	// root hash.
	LostCheckpoint LostCommitKind = "CHECKPOINT"
)

// LostCommit is what was committed and is not in the database any more.
type LostCommit struct {
	Platform  ident.Platform
	Kind      LostCommitKind
	Reference string
	// Transaction is the payment of a posting or an event; zero for none.
	Transaction ident.Transaction
	// CommittedAt is when the process learned of the commit of a posting, or delivered the event; zero for a checkpoint.
	CommittedAt time.Time
}

// LostCommitFinding is what a process has noticed at once. Until it is reviewed, nothing is posted and no payment leaves.
type LostCommitFinding struct {
	ID        int64
	NoticedAt time.Time
	// Lost is how many commits are known to be lost. There may be more.
	Lost int
	// ReviewedBy and Note are empty and ReviewedAt is zero until it is reviewed.
	ReviewedBy, Note string
	ReviewedAt       time.Time
}
