package pgembed

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// binEnv is the environment variable for the folder of the Postgres programs, if they are not
// where Debian installs them or if another version is wanted.
const binEnv = "CAUSEWAY_POSTGRES_BIN"

// oldestMajor is the oldest supported Postgres version.
const oldestMajor = 15

// programs is a folder with postgres and initdb of one major version.
type programs struct {
	dir   string
	major int
}

// findPrograms finds the programs of a major version. 0 means any version: the one in PATH, or
// else the newest in Debian's folders.
func findPrograms(major int) (programs, error) {
	return choosePrograms(programFolders(os.Getenv(binEnv), os.Getenv("PATH"), debianFolders), major)
}

// debianFolders is where Debian's postgresql packages install the programs.
const debianFolders = "/usr/lib/postgresql/*/bin"

// programFolders lists the folders to search, in order. A configured folder is the only one.
func programFolders(configured, path, pattern string) []string {
	if configured != "" {
		return []string{configured}
	}
	folders := filepath.SplitList(path)
	debian, _ := filepath.Glob(pattern) // fails only on an invalid pattern
	slices.SortFunc(debian, func(a, b string) int { return cmp.Compare(folderVersion(b), folderVersion(a)) })
	return append(folders, debian...)
}

// folderVersion returns 15 for /usr/lib/postgresql/15/bin.
func folderVersion(dir string) float64 {
	v, err := strconv.ParseFloat(filepath.Base(filepath.Dir(dir)), 64)
	if err != nil {
		return 0
	}
	return v
}

func choosePrograms(folders []string, major int) (programs, error) {
	var others []string
	for _, dir := range folders {
		found, ok := programsIn(dir)
		if !ok {
			continue
		}
		if found.major >= oldestMajor && (major == 0 || major == found.major) {
			return found, nil
		}
		others = append(others, fmt.Sprintf("version %d in %s", found.major, dir))
	}
	switch {
	case len(others) == 0 && major == 0:
		return programs{}, fmt.Errorf("found no Postgres programs: install the Debian package postgresql (apt-get install postgresql), "+
			"set %s to their folder, or set DATABASE_URL to use another database", binEnv)
	case major == 0:
		return programs{}, fmt.Errorf("need Postgres %d or newer, found only %s: install a newer postgresql package, "+
			"set %s to its folder, or set DATABASE_URL to use another database", oldestMajor, strings.Join(others, ", "), binEnv)
	default:
		if len(others) == 0 {
			others = []string{"none"}
		}
		return programs{}, fmt.Errorf("the data is of Postgres %d, but the programs found are of another version (%s): "+
			"install the Debian package postgresql-%d, set %s to its folder, or upgrade the data with pg_upgrade",
			major, strings.Join(others, ", "), major, binEnv)
	}
}

// programsIn returns the programs in a folder. It reports false if there are none.
func programsIn(dir string) (programs, bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return programs{}, false
	}
	for _, name := range []string{"initdb", "postgres"} {
		if _, err := exec.LookPath(filepath.Join(dir, name)); err != nil {
			return programs{}, false
		}
	}
	out, err := exec.Command(filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return programs{}, false
	}
	major, ok := parseVersion(string(out))
	return programs{dir: dir, major: major}, ok
}

var versionLine = regexp.MustCompile(`^postgres \(PostgreSQL\) (\d+)`)

// parseVersion parses "postgres (PostgreSQL) 15.18 (Debian …)".
func parseVersion(line string) (int, bool) {
	m := versionLine.FindStringSubmatch(line)
	if m == nil {
		return 0, false
	}
	major, err := strconv.Atoi(m[1])
	return major, err == nil
}
