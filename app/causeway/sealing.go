package main

import (
	"context"
	"fmt"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/adapters/checkpoints"
	"causeway/adapters/ids"
	"causeway/app/audit"
	"causeway/ports"
)

// sealFlags configure the log that seals postings.
type sealFlags struct {
	SealEvery         time.Duration `env:"CAUSEWAY_SEAL_EVERY" default:"1m" help:"Maximum time before a posting is sealed in the ledger log."`
	Checkpoints       string        `env:"CAUSEWAY_CHECKPOINTS" help:"Folder, or http or https URL, to which each signed checkpoint of the ledger log is published, outside the database. Default for dev: <data>/checkpoints." placeholder:"WHERE"`
	CheckpointTimeout time.Duration `env:"CAUSEWAY_CHECKPOINT_TIMEOUT" default:"10s" help:"Maximum duration of publishing a checkpoint. Afterwards it is published again."`
}

func (s sealFlags) checkSealing(refuse func(setting, must string, got any)) {
	if s.SealEvery < time.Second || s.SealEvery > 24*time.Hour {
		refuse("--seal-every (CAUSEWAY_SEAL_EVERY)", "from 1s to 24h", s.SealEvery)
	}
	if s.CheckpointTimeout < time.Second || s.CheckpointTimeout > time.Minute {
		refuse("--checkpoint-timeout (CAUSEWAY_CHECKPOINT_TIMEOUT)", "from 1s to 1m", s.CheckpointTimeout)
	}
}

// openSealing creates the log of postings. Its signing key is encrypted in the database.
func (a *app) openSealing(sealer ports.Sealer, idGenerator *ids.Generator) error {
	log := a.db.LedgerLog()
	config := audit.LogConfig{Log: log, Evidence: a.db.EvidenceLog(), Reads: a.db.Readers().LedgerLog(),
		Lost: a.db, Signer: checkpoints.NewKeyring(log, sealer, systemClock{}, idGenerator), Clock: systemClock{}, Logger: logrus.NewEntry(a.log),
		Interval: a.SealEvery}
	if a.Checkpoints != "" {
		var err error
		config.Place = checkpoints.PlaceOf(a.Checkpoints)
		if config.Publisher, err = checkpoints.NewPublisher(a.Checkpoints, a.CheckpointTimeout); err != nil {
			return fmt.Errorf("--checkpoints (CAUSEWAY_CHECKPOINTS): %w", err)
		}
	}
	a.sealing = audit.NewLog(config)
	return nil
}

// lostCommitsLogged is what is logged when commits are found to be lost.
const lostCommitsLogged = "the database has lost commits; no money moves until an operator has run causeway recover"

// compareCheckpoints notices a database that lacks what was published before, such as one that was restored.
func (a *app) compareCheckpoints(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, compareTimeout)
	defer cancel()
	switch lost, err := a.sealing.RecordLost(ctx); {
	case err != nil:
		a.log.WithError(err).Error("cannot compare the published checkpoints with the database")
	case lost > 0:
		a.log.WithField("checkpoints", lost).Error(lostCommitsLogged)
	}
}

// compareTimeout bounds how long it delays the start.
const compareTimeout = 20 * time.Second
