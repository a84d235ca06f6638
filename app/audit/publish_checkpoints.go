package audit

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// publishLease is how long a process may take to bring heads out before another tries.
	publishLease = 30 * time.Second
	// publishBatchSize is how many heads of a platform are brought out at once.
	publishBatchSize = 100
)

// PublishDue brings out every head that is not known to be outside. What fails stays
// due, in its order.
func (s *Log) PublishDue(ctx context.Context) error {
	if s.Publisher == nil {
		return nil
	}
	var wrong []error
	for {
		taken, err := s.Log.TakeUnpublished(ctx, s.Clock.Now(), publishLease, publishBatchSize)
		if err != nil {
			return errors.Join(append(wrong, err)...)
		}
		if len(taken) == 0 {
			return errors.Join(wrong...)
		}
		for _, t := range taken {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if len(t.Checkpoints) == 0 {
				continue
			}
			if err := s.Publisher.Publish(ctx, t.Checkpoints); err != nil {
				wrong = append(wrong, fmt.Errorf("publish heads of %s: %w", t.Platform, err))
				continue
			}
			if err := s.Log.MarkPublished(ctx, t.Platform, t.Checkpoints[len(t.Checkpoints)-1].Size); err != nil {
				return errors.Join(append(wrong, err)...)
			}
		}
	}
}
