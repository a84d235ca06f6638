package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"time"

	"causeway/adapters/cli/table"
	"causeway/app/people"
	"causeway/core/fault"
	"causeway/core/person"
)

// LoginCommand signs a person in on the command line.
type LoginCommand struct {
	DatabaseFlags
	publicURLFlag
}

// signInPoll is how often the command line asks whether its sign-in was approved.
const signInPoll = 2 * time.Second

// Run asks for a sign-in that the person approves in the console. The command line never sees the password.
func (c LoginCommand) Run(ctx context.Context, env *Env) error {
	return c.with(ctx, env, AsRequest, func(services Services) error {
		requested, err := services.People().RequestSignIn(ctx, whereabouts())
		if err != nil {
			return err
		}
		if err := env.say(nil, "Open %s/console/command-line, sign in, and enter the code %s within 10 minutes.\nWaiting …\n",
			c.publicURL(c.DatabaseFlags), person.GroupSignInCode(requested.Code)); err != nil {
			return err
		}
		in, err := awaitSignIn(ctx, services, requested)
		if err != nil {
			return err
		}
		err = env.Sessions.Set(services.Database(), Session{Secret: requested.Secret, Email: in.Person.Email, ExpiresAt: in.ExpiresAt})
		return env.say(err, "You are signed in as %s until %s. Sign out with: causeway logout\n", in.Person.Email,
			in.ExpiresAt.UTC().Format(time.RFC3339))
	})
}

func awaitSignIn(ctx context.Context, services Services, requested people.Requested) (people.SignedIn, error) {
	poll := time.NewTicker(signInPoll)
	defer poll.Stop()
	for {
		in, signedIn, err := services.People().AwaitSignIn(ctx, requested)
		switch {
		case fault.Is(err, fault.Conflict):
			return in, errors.New("nobody was signed in: the code was refused, or not entered in time")
		case err != nil || signedIn:
			return in, err
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return in, ctx.Err()
		}
	}
}

// whereabouts returns the user and the name of the machine, which the console shows to who approves.
func whereabouts() string {
	name, host := "somebody", "an unknown machine"
	if current, err := user.Current(); err == nil {
		name = current.Username
	}
	if known, err := os.Hostname(); err == nil {
		host = known
	}
	return name + "@" + host
}

// LogoutCommand ends the session of the command line.
type LogoutCommand struct{ DatabaseFlags }

// Run is no error if nobody is signed in.
func (c LogoutCommand) Run(ctx context.Context, env *Env) error {
	return c.with(ctx, env, AsRequest, func(services Services) error {
		session, err := env.Sessions.Of(services.Database())
		if err == nil {
			err = errors.Join(services.People().SignOut(ctx, session.Secret), env.Sessions.Set(services.Database(), Session{}))
		}
		return env.say(err, "Nobody is signed in.\n")
	})
}

// WhoamiCommand shows who is signed in.
type WhoamiCommand struct {
	DatabaseFlags
	outputFlag
}

// Run is an error if nobody is.
func (c WhoamiCommand) Run(ctx context.Context, env *Env) error {
	return c.with(ctx, env, AsRequest, func(services Services) error {
		session, err := env.Sessions.Of(services.Database())
		if err != nil {
			return err
		}
		in, err := services.People().CommandLine(ctx, session.Secret)
		if fault.Is(err, fault.Unauthorized) {
			return errors.New("nobody is signed in; sign in with: causeway login")
		}
		if err != nil {
			return err
		}
		r := table.NewRecord("person", in.Person.Email)
		r.Add("name", in.Person.Name)
		r.Add("roles", person.GrantTexts(in.Person.Grants))
		r.Add("signed in", in.CreatedAt)
		r.Add("until", in.ExpiresAt)
		return c.printRecord(env, r)
	})
}

// Session is a session of the command line as it is stored on the machine.
type Session struct {
	Secret    string    `json:"secret"`
	Email     string    `json:"email"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Sessions is the file of the sessions of the user, by database. The zero value is the one in the folder of the configuration of the
// user: XDG_CONFIG_HOME, or .config in the home.
type Sessions struct{ Path string }

// path returns the path of the file; empty for a user without a home, such as that of a schedule, who has no sessions.
func (s Sessions) path() string {
	if s.Path != "" {
		return s.Path
	}
	if folder, err := os.UserConfigDir(); err == nil {
		return filepath.Join(folder, "causeway", "sessions.json")
	}
	return ""
}

// Of returns the session of a database; zero if there is none.
func (s Sessions) Of(database string) (Session, error) {
	all, _, err := s.read()
	return all[database], err
}

func (s Sessions) read() (all map[string]Session, path string, err error) {
	if path = s.path(); path == "" {
		return nil, "", nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, path, nil
	}
	if err != nil {
		return nil, path, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, path, fmt.Errorf("%s can be read by others, who could act as you; delete it, and sign in again with: causeway login", path)
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w; delete it, and sign in again with: causeway login", path, err)
	}
	return all, path, err
}

// Set stores the session of a database in place of the one before, or deletes it if it is zero. It never leaves half a file.
func (s Sessions) Set(database string, session Session) error {
	all, path, err := s.read()
	if err != nil {
		return err
	}
	if path == "" {
		return errors.New("there is no folder for the configuration of the user; set XDG_CONFIG_HOME")
	}
	if session == (Session{}) {
		delete(all, database)
	} else if all == nil {
		all = map[string]Session{database: session}
	} else {
		all[database] = session
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return writeFileAtomically(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
