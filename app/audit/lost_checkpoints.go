package audit

import (
	"context"
	"fmt"
	"strings"

	"causeway/ledger"
	"causeway/ports"
)

// LostCommits records what the database has lost.
type LostCommits interface {
	// SaveLostCommits records those that are not recorded yet, and returns how many they are. From then on no money is moved until
	// they are reviewed.
	SaveLostCommits(ctx context.Context, lost []ports.LostCommit) (added int, err error)
}

// RecordLost compares the checkpoints that were published last with those in the database, and records those that it lacks: then it
// is an earlier state of itself, such as a backup, or a standby that had not received all. It returns how many are new.
func (s *Log) RecordLost(ctx context.Context) (int, error) {
	if s.Publisher == nil || s.Lost == nil {
		return 0, nil
	}
	notes, err := s.Publisher.Newest(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the checkpoints that were published last: %w", err)
	}
	published, err := ReadCheckpoints("the checkpoints that were published last", strings.NewReader(strings.Join(notes, "")))
	if err != nil {
		return 0, err
	}
	var lost []ports.LostCommit
	for _, p := range published {
		stored, err := s.isStored(ctx, p.Checkpoint)
		if err != nil {
			return 0, err
		}
		if !stored {
			lost = append(lost, ports.LostCommit{Platform: p.Platform, Kind: ports.LostCheckpoint,
				Reference: strings.Join(strings.Fields(p.Text()), " ")})
		}
	}
	return s.Lost.SaveLostCommits(ctx, lost)
}

func (s *Log) isStored(ctx context.Context, c ledger.Checkpoint) (bool, error) {
	var store ports.CheckpointStore = s.Log
	if c.Log == ledger.EvidenceLog {
		store = s.Evidence
	}
	page, err := store.Checkpoints(ctx, c.Platform, ports.CheckpointFilter{Size: c.Size, Limit: 1})
	if err != nil {
		return false, err
	}
	return len(page.Checkpoints) == 1 && page.Checkpoints[0].Checkpoint == c, nil
}
