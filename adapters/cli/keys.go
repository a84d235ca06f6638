package cli

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"causeway/adapters/cli/table"
	"causeway/app/datakeys"
	"causeway/core/ident"
	"causeway/core/platform"
)

// KeysCommand is about the keys that encrypt stored data.
type KeysCommand struct {
	Rotate    keysRotateCommand    `cmd:"" help:"Create a new data key and encrypt the stored personal data with it, and encrypt all stored keys with the current master key."`
	Reencrypt keysReencryptCommand `cmd:"" help:"Encrypt with the newest data key what another one encrypted, or none. Continues a rotation that was interrupted."`
	List      keysListCommand      `cmd:"" help:"List the data keys with the number of rows that still use each. It reads every row with personal data."`
	Remove    keysRemoveCommand    `cmd:"" help:"Delete a data key that no row uses and that was replaced a day ago. With the login that migrates the database."`
}

// withKeys calls do with the use cases on data keys, and shows how far they have read.
func (f DatabaseFlags) withKeys(ctx context.Context, env *Env, access Access, do func(Services, *datakeys.Service) error) error {
	return f.withAccess(ctx, env, access, func(services Services) error {
		bar := newProgress(env.ErrOut, "rows")
		defer bar.finish()
		return do(services, services.DataKeys(bar.update))
	})
}

type keysRotateCommand struct {
	DatabaseFlags
	MasterKeyFlag
	actorFlag
}

// Run runs beside the service.
func (k keysRotateCommand) Run(ctx context.Context, env *Env) error {
	id := env.IDs.New(env.Clock.Now())
	return k.withKeys(ctx, env, Access{Work: AsRequest, MasterKey: &k.MasterKeyFlag}, func(services Services, keys *datakeys.Service) error {
		action, err := k.action(ctx, env, services, platform.OperatorRotatedDataKey, ident.Platform{}, id.String())
		if err != nil {
			return err
		}
		done, err := keys.Rotate(ctx, id, action)
		return env.say(err, "Created data key %s and encrypted %d rows with it.\n"+
			"Encrypted %d stored keys and secrets with the current master key.\n",
			done.Key, done.Rows, done.Secrets)
	})
}

type keysReencryptCommand struct {
	DatabaseFlags
	MasterKeyFlag
}

// Run can be repeated, and runs beside the service.
func (k keysReencryptCommand) Run(ctx context.Context, env *Env) error {
	return k.withKeys(ctx, env, Access{Work: AsRequest, MasterKey: &k.MasterKeyFlag}, func(_ Services, keys *datakeys.Service) error {
		newest, rows, err := keys.Reencrypt(ctx)
		return env.say(err, "Encrypted %d rows with data key %s; the others were already.\n", rows, newest)
	})
}

type keysListCommand struct {
	DatabaseFlags
	outputFlag
}

// Run needs no master key.
func (k keysListCommand) Run(ctx context.Context, env *Env) error {
	return k.withKeys(ctx, env, Access{}, func(_ Services, service *datakeys.Service) error {
		keys, unencrypted, err := service.List(ctx)
		if err != nil {
			return err
		}
		t := table.New("data key", "created", "state", "rows")
		for _, key := range keys {
			state := "unused"
			switch {
			case key.Newest:
				state = "newest"
			case len(key.Uses) > 0:
				state = "used"
			}
			t.Add(key.ID, key.CreatedAt, state, table.OrDash(datakeys.UsesText(key.Uses)))
		}
		if len(unencrypted) > 0 {
			t.Add(table.Cell{Text: "not encrypted"}, table.OrDash(""), table.OrDash(""), datakeys.UsesText(unencrypted))
		}
		return k.printTable(env, t, "")
	})
}

type keysRemoveCommand struct {
	DatabaseFlags
	Key string `arg:"" help:"Id of a data key, as listed." placeholder:"KEY"`
	actorFlag
}

// Run needs no master key.
func (k keysRemoveCommand) Run(ctx context.Context, env *Env) error {
	id, err := uuid.Parse(k.Key)
	if err != nil {
		return fmt.Errorf("%q is not the id of a data key; list them with: causeway keys list", k.Key)
	}
	return k.withKeys(ctx, env, Access{}, func(services Services, keys *datakeys.Service) error {
		action, err := k.action(ctx, env, services, platform.OperatorRemovedDataKey, ident.Platform{}, id.String())
		if err != nil {
			return err
		}
		err = keys.Remove(ctx, id, action)
		return env.say(err, "Data key %s is removed. Backups made before still contain it.\n", id)
	})
}
