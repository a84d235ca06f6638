package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/app/audit/merkle"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

const (
	// maxPostingsPerCheckpoint is the maximum number of postings that one checkpoint adds.
	maxPostingsPerCheckpoint = 50_000
	// leavesPerWrite is the number of leaves after which full tiles are written.
	leavesPerWrite = 4_096
)

// LogConfig is what a Log needs.
type LogConfig struct {
	Log ports.LedgerLog
	// Evidence is the log of the facts beside the postings; nil if they are not sealed.
	Evidence ports.EvidenceLog
	// Reads answers requests for checkpoints and proofs; Log if nil.
	Reads  ports.LedgerLog
	Signer ports.CheckpointSigner
	// Publisher publishes checkpoints outside of the database; nil if they are not published.
	Publisher ports.CheckpointPublisher
	// Place says where that is, without secrets.
	Place string
	// Lost records that the database lacks what was published; nil if that is not looked for.
	Lost   LostCommits
	Clock  ports.Clock
	Logger *logrus.Entry
	// Interval is the time between two seals.
	Interval time.Duration
}

// Log seals postings in the log, publishes its checkpoints and proves what is in it.
type Log struct{ LogConfig }

// NewLog returns a Log.
func NewLog(c LogConfig) *Log {
	if c.Reads == nil {
		c.Reads = c.Log
	}
	return &Log{c}
}

// Run seals and publishes until ctx ends. Any number of processes may run it on one database.
func (s *Log) Run(ctx context.Context) {
	tick := time.NewTicker(s.Interval)
	defer tick.Stop()
	for {
		if err := recovered(func() error { return s.SealDue(ctx) }); err != nil && ctx.Err() == nil {
			s.Logger.WithError(err).Error("cannot seal postings; will retry")
		}
		if err := recovered(func() error { return s.SealEvidenceDue(ctx) }); err != nil && ctx.Err() == nil {
			s.Logger.WithError(err).Error("cannot seal evidence; will retry")
		}
		if err := recovered(func() error { return s.publishInTime(ctx) }); err != nil && ctx.Err() == nil {
			s.Logger.WithError(err).Error("cannot publish checkpoints of the ledger log; will retry")
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// recovered calls fn and returns a panic as an error.
func recovered(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}

// publishTimeout is how long publishing may delay the next seal. What is left is published later.
const publishTimeout = time.Minute

func (s *Log) publishInTime(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	return s.PublishDue(ctx)
}

// SealDue seals the new postings of every platform. A platform that cannot be sealed does not
// delay others.
func (s *Log) SealDue(ctx context.Context) error {
	due, err := s.Log.Unsealed(ctx)
	if err != nil {
		return err
	}
	return sealEach(ctx, due, "postings", s.sealPlatform)
}

// sealEach seals what is due on each platform, whatever happens on another, and returns all errors.
func sealEach(ctx context.Context, due []ident.Platform, what string, seal func(context.Context, ident.Platform) error) error {
	var errs []error
	for _, p := range due {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := recovered(func() error { return seal(ctx, p) }); err != nil {
			errs = append(errs, fmt.Errorf("seal the %s of %s: %w", what, p, err))
		}
	}
	return errors.Join(errs...)
}

// sealPlatform seals the new postings of one platform, unless another process is sealing them.
func (s *Log) sealPlatform(ctx context.Context, p ident.Platform) error {
	for more := true; more; {
		locked, err := s.Log.Seal(ctx, p, func(ctx context.Context, w ports.LogWriter) (err error) {
			more, err = s.sealNext(ctx, p, w)
			return err
		})
		if err != nil || !locked {
			return err
		}
	}
	return nil
}

// sealNext adds the next postings to the tree and signs a checkpoint. It reports whether there
// are more.
func (s *Log) sealNext(ctx context.Context, p ident.Platform, w ports.LogWriter) (more bool, err error) {
	from, edge := w.State()
	upto := min(w.Postings(), from+maxPostingsPerCheckpoint)
	if upto <= from {
		return false, nil
	}
	tree, err := merkle.ResumeTree(from, edge)
	if err != nil {
		return false, err
	}
	flush := func() error {
		full, newEdge, err := tree.Flush()
		if err != nil {
			return err
		}
		edge = newEdge
		return w.Add(ctx, full)
	}
	err = w.Read(ctx, from, upto, func(a ports.AuditPosting) error {
		leaf, err := newLeaf(a, tree.Size()+1)
		if err != nil {
			return err
		}
		if err := tree.Add(merkle.LeafHash(leaf)); err != nil {
			return err
		}
		if tree.Size()%leavesPerWrite == 0 {
			return flush()
		}
		return nil
	})
	if err == nil && tree.Size() != upto {
		err = fmt.Errorf("%d postings are missing after number %d", upto-tree.Size(), tree.Size())
	}
	if err != nil {
		return false, err
	}
	if err := flush(); err != nil {
		return false, err
	}
	root, err := tree.Root()
	if err != nil {
		return false, err
	}
	checkpoint := ports.SignedCheckpoint{Checkpoint: ledger.Checkpoint{Platform: p, Size: upto, Root: root}}
	if checkpoint.Note, err = s.Signer.Sign(ctx, checkpoint.Checkpoint); err != nil {
		return false, err
	}
	checkpoint.Sealed = s.Clock.Now()
	return w.Postings() > upto, w.Seal(ctx, checkpoint, edge)
}

// newLeaf returns the leaf of a posting, or an error if the posting is not what was posted.
func newLeaf(a ports.AuditPosting, seq int64) (ledger.Leaf, error) {
	if !a.Found || a.Seq != seq {
		return ledger.Leaf{}, fmt.Errorf("posting number %d is missing; check the ledger", seq)
	}
	posting := a.WithEntries()
	digest, numbered := posting.Digest(), true
	for i, e := range a.Entries {
		numbered = numbered && e.N == i+1
	}
	if !numbered || !bytes.Equal(digest[:], a.Digest) {
		return ledger.Leaf{}, fmt.Errorf("posting %s, number %d, has been changed; check the ledger", posting.ID, a.Seq)
	}
	return ledger.Leaf{Posting: posting, Seq: a.Seq, Recorded: a.Recorded}, nil
}
