// Package layers contains only tests. They check which package may import which, and what the
// pure packages may not use.
package layers

import (
	"slices"
	"strings"
)

// layers lists the layers from the lowest: imports point down this list. Packages of one layer
// may import each other only if siblingImports is set.
var layers = []layer{
	{name: "base", paths: []string{"core/fault", "core/money", "core/ident"}, siblingImports: true},
	{name: "ledger", paths: []string{"ledger"}, siblingImports: true},
	{name: "core", paths: []string{"core"}, siblingImports: true},
	{name: "ports", paths: []string{"ports"}, siblingImports: true},
	{name: "shared by use cases", paths: []string{"app/internal"}},
	{name: "use cases", paths: []string{"app"}},
	{name: "adapters", paths: []string{"adapters"}},
	{name: "guides", paths: []string{"docs"}},
	{name: "main", paths: []string{"app/causeway"}, siblingImports: true},
	{name: "e2e", paths: []string{"e2e"}, siblingImports: true},
}

type layer struct {
	name           string
	paths          []string
	siblingImports bool
}

// migrationsPackage imports no other package of the module. Only main, e2e and the test
// databases import it.
const migrationsPackage = "migrations"

// testDatabasePackage starts Postgres for tests. It may import the migrations; only tests of the
// layers above ports and of the migrations may import it.
const testDatabasePackage = "adapters/pgembed/pgtest"

// testEnvironmentPackages are the environment in which use cases are tested, and the checks of its ledger. They may import
// what tests of use cases may; only tests of the layers above ports may import them.
var testEnvironmentPackages = []string{"app/internal/apptest", "app/internal/audittest"}

// codecsPackage has the codecs of values in the database, which the test database registers as the service does.
const codecsPackage = "adapters/postgres/schema"

// connectorsPath has the connectors of rails. Of the database they may import what they keep a state of their own with, and nothing else.
const connectorsPath = "adapters/rails"

// connectorPackages are that.
var connectorPackages = []string{codecsPackage, "adapters/postgres/storage", "adapters/postgres/sealed"}

// purePaths are the layers whose functions depend on their arguments alone.
var purePaths = []string{"core", "ledger"}

// pureStdlib lists what the pure layers may import from the standard library. A package without
// clock, randomness, input, output or state may be added.
var pureStdlib = []string{
	"bytes", "cmp", "embed", "errors", "fmt", "iter", "maps", "math", "math/big", "math/bits", "regexp", "slices", "sort",
	"strconv", "strings", "time", "unicode", "unicode/utf8",
	"crypto/ecdh", "crypto/ecdsa", "crypto/ed25519", "crypto/elliptic", "crypto/hmac", "crypto/sha256", "crypto/sha512", "crypto/subtle",
	"encoding", "encoding/base32", "encoding/base64", "encoding/binary", "encoding/hex", "encoding/json",
	"hash", "hash/fnv", "net/mail", "net/netip", "net/url", "path",
}

// pureModules lists the other modules that the pure layers may import.
var pureModules = []string{
	"github.com/btcsuite/btcd/btcutil/base58", "github.com/btcsuite/btcd/btcutil/bech32", "github.com/decred/dcrd/dcrec/secp256k1/v4",
	"github.com/ericlagergren/decimal", "github.com/google/uuid", "github.com/rickar/cal/v2",
	"golang.org/x/crypto/ripemd160", "golang.org/x/crypto/sha3",
	"golang.org/x/text/unicode/norm",
}

// formatsPath has the formats of files, which are read and written as streams: a large file fits into no memory.
const formatsPath = "core/formats"

// formatsImports lists what the formats may import besides: interfaces of streams, and codecs of what is given to them.
var formatsImports = []string{
	"bufio", "encoding/csv", "encoding/xml", "io",
	"github.com/moov-io/ach", "github.com/moov-io/base", "golang.org/x/text/encoding", "golang.org/x/text/transform",
}

// impureFuncs lists the functions of those packages that read a clock, use randomness or return
// floats.
var impureFuncs = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer", "Local", "LoadLocation"},
	"github.com/google/uuid": {
		"New", "NewString", "NewRandom", "NewRandomFromReader", "NewUUID", "NewV6", "NewV7", "NewV7FromReader",
		"NewDCEGroup", "NewDCEPerson", "NewDCESecurity",
	},
	"github.com/decred/dcrd/dcrec/secp256k1/v4": {"GeneratePrivateKey", "GeneratePrivateKeyFromRand"},
	"github.com/moov-io/ach":                    {"MergeDir", "ReadDir", "ReadFile", "ReadFiles", "ReadJSONFile", "ReadJSONFileWith"},
	"github.com/moov-io/base":                   {"ID", "Now"},
	"strconv":                                   {"ParseFloat", "FormatFloat", "AppendFloat", "ParseComplex", "FormatComplex"},
}

// layerOf returns the index of the layer of a package, or -1 if it is in none. The longest
// matching path decides.
func layerOf(pkg string) int {
	best, length := -1, -1
	for i, layer := range layers {
		for _, path := range layer.paths {
			if inPath(pkg, path) && len(path) > length {
				best, length = i, len(path)
			}
		}
	}
	return best
}

// componentOf returns the capability or adapter that a package belongs to, such as
// adapters/postgres for adapters/postgres/ledgerdb.
func componentOf(pkg string) string {
	parts := strings.SplitN(pkg, "/", 3)
	return strings.Join(parts[:min(2, len(parts))], "/")
}

func inPath(pkg, path string) bool { return pkg == path || strings.HasPrefix(pkg, path+"/") }

func inAnyPath(pkg string, paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool { return inPath(pkg, path) })
}
