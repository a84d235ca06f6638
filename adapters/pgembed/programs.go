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

// binEnv names the folder of the Postgres programs, when they are not where
// Debian puts them or another version is wanted.
const binEnv = "CAUSEWAY_POSTGRES_BIN"

// oldestMajor is the oldest Postgres that the service's SQL runs on.
const oldestMajor = 15

// programs is a folder with postgres and initdb of one major version.
type programs struct {
	dir   string
	major int
}

// findPrograms finds the programs of a major version; 0 means any, the newest
// that Debian has installed if PATH holds none.
func findPrograms(major int) (programs, error) {
	return choosePrograms(programFolders(os.Getenv(binEnv), os.Getenv("PATH"), debianFolders), major)
}

// debianFolders is where Debian's postgresql packages put their programs.
const debianFolders = "/usr/lib/postgresql/*/bin"

// programFolders lists where to look, best first. A folder that was named is the
// only one.
func programFolders(named, path, pattern string) []string {
	if named != "" {
		return []string{named}
	}
	folders := filepath.SplitList(path)
	debian, _ := filepath.Glob(pattern) // errs on a bad pattern only
	slices.SortFunc(debian, func(a, b string) int { return cmp.Compare(folderVersion(b), folderVersion(a)) })
	return append(folders, debian...)
}

// folderVersion is 15 for /usr/lib/postgresql/15/bin.
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
			"name their folder in %s, or use a database of your own (DATABASE_URL)", binEnv)
	case major == 0:
		return programs{}, fmt.Errorf("need Postgres %d or newer, found only %s: install a newer postgresql package, "+
			"name its folder in %s, or use a database of your own (DATABASE_URL)", oldestMajor, strings.Join(others, ", "), binEnv)
	default:
		if len(others) == 0 {
			others = []string{"none"}
		}
		return programs{}, fmt.Errorf("the data is of Postgres %d, the programs found are of another version (%s): "+
			"install the Debian package postgresql-%d, name its folder in %s, or move the data with pg_upgrade",
			major, strings.Join(others, ", "), major, binEnv)
	}
}

// programsIn reads the version of the programs in a folder, if it holds them.
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

// parseVersion reads "postgres (PostgreSQL) 15.18 (Debian …)".
func parseVersion(line string) (int, bool) {
	m := versionLine.FindStringSubmatch(line)
	if m == nil {
		return 0, false
	}
	major, err := strconv.Atoi(m[1])
	return major, err == nil
}
