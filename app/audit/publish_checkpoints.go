package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"causeway/ports"
)

const (
	// publishLease is how long a process may take to publish checkpoints before another tries.
	publishLease = 30 * time.Second
	// publishBatchSize is how many checkpoints of a platform are published at once.
	publishBatchSize = 100
)

// PublishDue publishes every checkpoint that is not known to be published, in order. Those that
// fail stay due.
func (s *Log) PublishDue(ctx context.Context) error {
	if s.Publisher == nil {
		return nil
	}
	err := s.publishLog(ctx, s.Log)
	if s.Evidence != nil && ctx.Err() == nil {
		err = errors.Join(err, s.publishLog(ctx, s.Evidence))
	}
	return err
}

// publishLog publishes the checkpoints of one of the logs.
func (s *Log) publishLog(ctx context.Context, log ports.CheckpointStore) error {
	var errs []error
	for {
		taken, err := log.TakeUnpublished(ctx, s.Clock.Now(), publishLease, publishBatchSize)
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		if len(taken) == 0 {
			return errors.Join(errs...)
		}
		for _, t := range taken {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if len(t.Checkpoints) == 0 {
				continue
			}
			if err := s.Publisher.Publish(ctx, t.Checkpoints); err != nil {
				errs = append(errs, fmt.Errorf("publish checkpoints of %s: %w", t.Platform, err))
				continue
			}
			published := ports.Publication{Size: t.Checkpoints[len(t.Checkpoints)-1].Size, At: s.Clock.Now(), Place: s.Place}
			if err := log.MarkPublished(ctx, t.Platform, published); err != nil {
				return errors.Join(append(errs, err)...)
			}
		}
	}
}
