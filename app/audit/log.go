package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/app/audit/merkle"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

const (
	// maxPostingsPerCheckpoint is how many postings one head adds at most: what waits longer than that gets
	// several heads.
	maxPostingsPerCheckpoint = 50_000
	// leavesPerWrite is after how many leaves full tiles are written.
	leavesPerWrite = 4_096
)

// LogConfig is what sealing needs.
type LogConfig struct {
	Log    ports.LedgerLog
	Signer ports.CheckpointSigner
	// Publisher is where heads go outside of the database; nil for nowhere.
	Publisher ports.CheckpointPublisher
	Clock     ports.Clock
	Logger    *logrus.Entry
	// Interval is how long a posting may be without a head.
	Interval time.Duration
}

// Log are the use cases around the log.
type Log struct{ LogConfig }

// NewLog makes the use cases.
func NewLog(c LogConfig) *Log { return &Log{c} }

// Run seals and publishes until ctx ends. Any number of processes may run it on one
// database.
func (s *Log) Run(ctx context.Context) {
	tick := time.NewTicker(s.Interval)
	defer tick.Stop()
	for {
		if err := s.SealDue(ctx); err != nil && ctx.Err() == nil {
			s.Logger.WithError(err).Error("postings could not be sealed and will be tried again")
		}
		if err := s.PublishDue(ctx); err != nil && ctx.Err() == nil {
			s.Logger.WithError(err).Error("heads of the ledger's log could not be published and will be tried again; none is lost")
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// SealDue seals what is new on every platform. One that cannot be sealed holds up no
// other.
func (s *Log) SealDue(ctx context.Context) error {
	due, err := s.Log.Unsealed(ctx)
	if err != nil {
		return err
	}
	var wrong []error
	for _, p := range due {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.sealPlatform(ctx, p); err != nil {
			wrong = append(wrong, fmt.Errorf("seal the postings of %s: %w", p, err))
		}
	}
	return errors.Join(wrong...)
}

// sealPlatform seals what is new on one platform, unless somebody else does.
func (s *Log) sealPlatform(ctx context.Context, p ident.Platform) error {
	for more := true; more; {
		held, err := s.Log.Seal(ctx, p, func(ctx context.Context, w ports.LogWriter) (err error) {
			more, err = s.sealNext(ctx, p, w)
			return err
		})
		if err != nil || !held {
			return err
		}
	}
	return nil
}

// sealNext adds the next postings to the tree and signs a head, and tells whether there
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
	put := func() error {
		full, now, err := tree.Flush()
		if err != nil {
			return err
		}
		edge = now
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
			return put()
		}
		return nil
	})
	if err == nil && tree.Size() != upto {
		err = fmt.Errorf("%d postings are missing after number %d", upto-tree.Size(), tree.Size())
	}
	if err != nil {
		return false, err
	}
	if err := put(); err != nil {
		return false, err
	}
	root, err := tree.Root()
	if err != nil {
		return false, err
	}
	head := ports.SignedCheckpoint{Checkpoint: ledger.Checkpoint{Platform: p, Size: upto, Root: root}}
	if head.Note, err = s.Signer.Sign(ctx, head.Checkpoint); err != nil {
		return false, err
	}
	head.Sealed = s.Clock.Now()
	return w.Postings() > upto, w.Seal(ctx, head, edge)
}

// newLeaf is the leaf of a posting that says what was posted, under its number.
func newLeaf(a ports.AuditPosting, seq int64) (ledger.Leaf, error) {
	if !a.Found || a.Seq != seq {
		return ledger.Leaf{}, fmt.Errorf("posting number %d is not there; check the ledger", seq)
	}
	posting := a.WithEntries()
	digest, counted := posting.Digest(), true
	for i, e := range a.Entries {
		counted = counted && e.N == i+1
	}
	if !counted || !bytes.Equal(digest[:], a.Digest) {
		return ledger.Leaf{}, fmt.Errorf("posting %s, number %d, does not say what was posted; check the ledger", posting.ID, a.Seq)
	}
	return ledger.Leaf{Posting: posting, Seq: a.Seq, Recorded: a.Recorded}, nil
}
