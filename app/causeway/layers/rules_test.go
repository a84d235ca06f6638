// Package floors holds the house to its plan: which package may import which, and
// what the pure ones may not touch. It is tests alone and knows nothing of what
// the packages do.
package layers

import (
	"slices"
	"strings"
)

// layers lists the packages from the ground up: an import goes down, never up.
// Packages of one floor may import each other where siblings says so.
var layers = []layer{
	{name: "ground", paths: []string{"core/fault", "core/money", "core/ident"}, siblingImports: true},
	{name: "ledger", paths: []string{"ledger"}, siblingImports: true},
	{name: "core", paths: []string{"core"}, siblingImports: true},
	{name: "ports", paths: []string{"ports"}, siblingImports: true},
	{name: "machinery of use cases", paths: []string{"app/internal"}},
	{name: "use cases", paths: []string{"app"}},
	{name: "adapters", paths: []string{"adapters"}},
	{name: "roof", paths: []string{"app/causeway"}, siblingImports: true},
	{name: "whole house", paths: []string{"e2e"}, siblingImports: true},
}

type layer struct {
	name           string
	paths          []string
	siblingImports bool
}

// migrationsPackage imports nothing of the house; the roof brings a database up with it, and
// so do the databases of tests.
const migrationsPackage = "migrations"

// testDatabasePackage gives tests a Postgres. It may use beside; any test above ports or
// of beside may use it, and nothing else may.
const testDatabasePackage = "adapters/pgembed/pgtest"

// testEnvironmentPackage is the environment in which use cases are tested. It may import what
// their tests may; only tests above the ports may import it.
const testEnvironmentPackage = "app/internal/apptest"

// purePaths floors compute and nothing else: the same arguments give the same answer,
// on every machine, for ever.
var purePaths = []string{"core", "ledger"}

// pureStdlib is what the pure floors may use of the standard library. A package
// that has no clock, no randomness, no input or output and no state may be added.
var pureStdlib = []string{
	"bytes", "cmp", "embed", "errors", "fmt", "iter", "maps", "math", "math/big", "math/bits", "regexp", "slices", "sort",
	"strconv", "strings", "time", "unicode", "unicode/utf8",
	"crypto/hmac", "crypto/sha256", "crypto/sha512", "crypto/subtle",
	"encoding", "encoding/base32", "encoding/base64", "encoding/binary", "encoding/hex", "encoding/json",
	"hash", "net/mail", "net/netip", "net/url",
}

// pureModules is what they may use of others.
var pureModules = []string{"github.com/ericlagergren/decimal", "github.com/google/uuid"}

// impureFuncs are the functions of those packages that read a clock or draw random
// numbers, or bring a float in.
var impureFuncs = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer", "Local", "LoadLocation"},
	"github.com/google/uuid": {
		"New", "NewString", "NewRandom", "NewRandomFromReader", "NewUUID", "NewV6", "NewV7", "NewV7FromReader",
		"NewDCEGroup", "NewDCEPerson", "NewDCESecurity",
	},
	"strconv": {"ParseFloat", "FormatFloat", "AppendFloat", "ParseComplex", "FormatComplex"},
}

// layerOf is the floor of a package, 0 at the ground; -1 for a package that stands
// on none. The longest tree that holds it counts.
func layerOf(pkg string) int {
	best, length := -1, -1
	for i, f := range layers {
		for _, tree := range f.paths {
			if inPath(pkg, tree) && len(tree) > length {
				best, length = i, len(tree)
			}
		}
	}
	return best
}

// componentOf is the capability or adapter that a package belongs to: adapters/postgres
// for adapters/postgres/ledgerdb.
func componentOf(pkg string) string {
	parts := strings.SplitN(pkg, "/", 3)
	return strings.Join(parts[:min(2, len(parts))], "/")
}

func inPath(pkg, tree string) bool { return pkg == tree || strings.HasPrefix(pkg, tree+"/") }

func inAnyPath(pkg string, trees []string) bool {
	return slices.ContainsFunc(trees, func(tree string) bool { return inPath(pkg, tree) })
}
