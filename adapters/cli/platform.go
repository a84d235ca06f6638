package cli

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"causeway/adapters/cli/table"
	"causeway/app/platforms"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/sca"
	"causeway/core/uma"
)

// PlatformCommand is about platforms.
type PlatformCommand struct {
	Create platformCreateCommand `cmd:"" help:"Create a platform and its first API token. The secret is shown only once."`
	Set    platformSetCommand    `cmd:"" help:"Change what only the operator of the service decides about a platform."`
	List   platformListCommand   `cmd:"" help:"Print the platforms, oldest first."`
	Limits platformLimitsCommand `cmd:"" help:"Limit what a platform and its customers may send, and show what is left."`

	UMAKeys       platformUMAKeysCommand       `cmd:"" name:"uma-keys" help:"Print the public keys of a platform as a UMA provider, newest first, and when each is used: what certificates are made of."`
	RevokeUMAKeys platformRevokeUMAKeysCommand `cmd:"" name:"revoke-uma-keys" help:"Replace the keys of a platform as a UMA provider at once, because somebody else may have them. Other providers refuse its messages until they read the new keys, within an hour, and what they have encrypted before cannot be read."`
}

type platformCreateCommand struct {
	DatabaseFlags
	Name        string `required:"" help:"Display name." placeholder:"NAME"`
	Environment string `required:"" enum:"SANDBOX,PRODUCTION" help:"SANDBOX simulates payments; PRODUCTION moves money. It cannot be changed later." placeholder:"SANDBOX|PRODUCTION"`
	Regulated   bool   `help:"The platform is a regulated financial institution that verifies its own customers."`
	publicURLFlag
	actorFlag
}

func (p platformCreateCommand) Run(ctx context.Context, env *Env) error {
	return p.withOperator(ctx, env, p.actorFlag, func(_ Services, operator *platforms.Operator) error {
		created, err := operator.CreatePlatform(ctx, platforms.CreateRequest{Name: p.Name, Environment: platform.Environment(p.Environment),
			Regulated: p.Regulated})
		if err != nil {
			return fieldErrors("nothing was created", err)
		}
		return CredentialsOf(created.IssuedToken, env.BaseURL(p.publicURL(p.DatabaseFlags))).Write(env.Out)
	})
}

// publicURLFlag is the base URL that commands print with credentials and links.
type publicURLFlag struct {
	PublicURL string `env:"CAUSEWAY_PUBLIC_URL" help:"Public URL of the service to print, without the version. Default: that of <data>/credentials.json, or http://localhost:8080." placeholder:"URL"`
}

// publicURL returns the URL without a slash at its end. The private Postgres of a data folder belongs to the service that has written
// the credentials there.
func (f publicURLFlag) publicURL(of DatabaseFlags) string {
	if f.PublicURL != "" {
		return strings.TrimSuffix(f.PublicURL, "/")
	}
	if saved, err := of.Credentials(); err == nil && of.DatabaseURL == "" && saved.BaseURL != "" {
		return saved.BaseURL[:max(strings.LastIndexByte(saved.BaseURL, '/'), 0)]
	}
	return "http://localhost:8080"
}

type platformSetCommand struct {
	platformFlags
	Regulated     *bool    `negatable:"" help:"Whether the platform is a regulated financial institution that verifies its own customers. Its new customers are then APPROVED; present ones keep their status."`
	SCAPayments   *bool    `name:"sca-payments" negatable:"" help:"Whether these customers have to authorise each payment. New platforms begin with it; those of before do without until it is set."`
	SCAExemptions []string `name:"sca-exemptions" help:"Payments that need no proof, separated by commas: TRUSTED_BENEFICIARY, LOW_VALUE; NONE for none." placeholder:"LOW_VALUE"`
	SCARegions    []string `name:"sca-regions" help:"Countries (ISO 3166-1 alpha-2) whose customers need strong customer authentication, in place of the European Economic Area and the United Kingdom: DEFAULT for those again, NONE for no country." placeholder:"DE,FR"`
	actorFlag
}

func (c platformSetCommand) Run(ctx context.Context, env *Env) error {
	return c.asOperator(ctx, env, c.actorFlag, func(operator *platforms.Operator, owner ident.Platform) error {
		change := platforms.OperatorChange{Regulated: c.Regulated, SCAPayments: c.SCAPayments}
		if c.SCAExemptions != nil {
			exemptions, err := sca.ParseExemptions(slices.DeleteFunc(c.SCAExemptions, func(name string) bool { return name == "NONE" }))
			if err != nil {
				return fieldErrors("nothing was changed", err)
			}
			change.SCAExemptions = &exemptions
		}
		switch {
		case change == (platforms.OperatorChange{}) && c.SCARegions == nil:
			return errors.New("nothing to change: name --regulated, --no-regulated, --sca-payments, --no-sca-payments, --sca-exemptions or " +
				"--sca-regions")
		case slices.Equal(c.SCARegions, []string{"DEFAULT"}):
			change.SCARegions = new([]string)
		case slices.Equal(c.SCARegions, []string{"NONE"}):
			change.SCARegions = &[]string{}
		case c.SCARegions != nil:
			change.SCARegions = &c.SCARegions
		}
		changed, err := operator.Set(ctx, owner, change)
		if err != nil {
			return fieldErrors("nothing was changed", err)
		}
		is := "is"
		if !changed.Regulated {
			is = "is not"
		}
		payments := "pay without an authorization of each payment"
		if !changed.SCAPaymentsSince.IsZero() {
			payments = "authorise each payment, with the exemptions " + cmp.Or(strings.Join(changed.SCAExemptions.Names(), ", "), "NONE")
		}
		return env.say(nil, "%s %s regulated. Its customers of %s need strong customer authentication. They %s.\n", changed.ID, is,
			platform.SCARegionsText(changed.SCARegions), payments)
	})
}

type platformUMAKeysCommand struct {
	platformFlags
	MasterKeyFlag
	outputFlag
}

func (c platformUMAKeysCommand) Run(ctx context.Context, env *Env) error {
	return c.withAccess(ctx, env, Access{MasterKey: &c.MasterKeyFlag}, func(services Services) error {
		p, err := c.resolve(ctx, services)
		if err != nil {
			return err
		}
		ring, err := services.UMAKeys(ctx, p)
		if err != nil {
			return err
		}
		slices.SortFunc(ring, func(a, b uma.KeyPair) int { return b.Number - a.Number })
		now := time.Now()
		rows := table.New(">number", "state", "active from", "next pair made", "signing key", "encryption key")
		for _, k := range ring {
			rows.Add(k.Number, ring.State(k, now), k.ActiveFrom, k.ActiveFrom.Add(uma.KeysUsedFor), hex.EncodeToString(uma.PublicKey(k.Signing)),
				hex.EncodeToString(uma.PublicKey(k.Encryption)))
		}
		return c.printTable(env, rows, "The platform has no UMA keys yet. They are made when they are first needed.")
	})
}

type platformRevokeUMAKeysCommand struct {
	platformFlags
	Of string `help:"Domain of another UMA provider: forget the keys that are kept of that one, and read them again for the next message." placeholder:"DOMAIN"`
	actorFlag
}

// Run needs no master key: the service makes the new keys.
func (c platformRevokeUMAKeysCommand) Run(ctx context.Context, env *Env) error {
	return c.asOperator(ctx, env, c.actorFlag, func(operator *platforms.Operator, owner ident.Platform) error {
		err := operator.RevokeUMAKeys(ctx, owner, strings.ToLower(c.Of))
		return env.say(err, "The keys are not used any more. The next message of UMA has new ones.\n")
	})
}

// withOperator calls do with the use cases of an operator on platforms.
func (f DatabaseFlags) withOperator(ctx context.Context, env *Env, actor actorFlag, do func(Services, *platforms.Operator) error) error {
	return f.with(ctx, env, AsRequest, func(services Services) error {
		by, err := actor.author(ctx, env, services)
		if err == nil {
			err = services.WithOperator(ctx, by, func(operator *platforms.Operator) error { return do(services, operator) })
		}
		return fieldErrors("nothing was changed", err)
	})
}

// asOperator is withOperator for what is done to one platform.
func (f platformFlags) asOperator(ctx context.Context, env *Env, actor actorFlag,
	do func(*platforms.Operator, ident.Platform) error) error {
	return f.withOperator(ctx, env, actor, func(services Services, operator *platforms.Operator) error {
		p, err := f.resolve(ctx, services)
		if err != nil {
			return err
		}
		return do(operator, p)
	})
}

type platformListCommand struct {
	DatabaseFlags
	outputFlag
}

func (p platformListCommand) Run(ctx context.Context, env *Env) error {
	return p.with(ctx, env, OnBooks, func(services Services) error {
		rows := table.New("platform", "environment", "created", "closed", "name")
		for found, err := range services.Platforms().All(ctx) {
			if err != nil {
				return err
			}
			rows.Add(found.ID, found.Environment, found.CreatedAt, found.ClosedAt, found.Name)
		}
		return p.printTable(env, rows, "There are no platforms. Create one with: causeway platform create")
	})
}
