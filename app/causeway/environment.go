package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// fileSuffix ends the name of a variable that holds the path of a file with the value of a secret
// setting, so that the secret is not in the environment.
const fileSuffix = "_FILE"

// secretFiles reads secret settings from the files that their variables name.
func secretFiles(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if !isSecret(flag) {
		return nil, nil //nolint:nilnil // no value: the setting has none from a file
	}
	for _, name := range flag.Envs {
		path := os.Getenv(name + fileSuffix)
		if path == "" {
			continue
		}
		if os.Getenv(name) != "" {
			return nil, fmt.Errorf("%[1]s and %[1]s%[2]s are both set; unset one of them", name, fileSuffix)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("%s%s: %w", name, fileSuffix, err)
		}
		return strings.TrimSpace(string(text)), nil
	}
	return nil, nil //nolint:nilnil // as above
}

// isSecret reports whether a flag has the tag "secret".
func isSecret(flag *kong.Flag) bool { return flag.Tag != nil && flag.Tag.Has("secret") }

const (
	environmentPrefix = "CAUSEWAY_"
	maxTypos          = 2
)

// clusterVariables are set by Kubernetes for a service that is called causeway.
var clusterVariables = regexp.MustCompile(`^CAUSEWAY_(SERVICE_|PORT(_|$))`)

// knownVariables returns the environment variables of settings.
func knownVariables(model *kong.Application) []string {
	known := []string{"CAUSEWAY_POSTGRES_BIN"}
	_ = kong.Visit(model, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			known = append(known, flag.Envs...)
			if isSecret(flag) {
				for _, name := range flag.Envs {
					known = append(known, name+fileSuffix)
				}
			}
		}
		return next(nil)
	})
	return known
}

// otherVariables returns the names of those that begin like a setting and are none.
func otherVariables(known, environment []string) (names []string) {
	for _, variable := range environment {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, environmentPrefix) && !slices.Contains(known, name) && !clusterVariables.MatchString(name) {
			names = append(names, name)
		}
	}
	return names
}

// checkEnvironment returns an error for each variable whose name is almost that of a setting:
// ignored, it would leave the setting at its default.
func checkEnvironment(model *kong.Application, environment []string) error {
	known := knownVariables(model)
	var errs []error
	for _, name := range otherVariables(known, environment) {
		for _, setting := range known {
			if editDistance(name, setting) <= maxTypos {
				errs = append(errs, fmt.Errorf("the environment variable %s is not a setting; did you mean %s?", name, setting))
				break
			}
		}
	}
	return errors.Join(errs...)
}

// editDistance returns how many bytes must be inserted, deleted or replaced to turn one text into
// the other.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
