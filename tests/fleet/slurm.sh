# shellcheck shell=sh
# Slurm with two nodes on this machine, for tests/fleet/check.sh: configuration, state, keys and logs are in $slurm, all ports are
# free ones of the loopback, and slurm_stop ends everything that slurm_start started.
: "${work:?is set by check.sh}"
slurm=$work/slurm
export SLURM_CONF="$slurm/slurm.conf"

# why Slurm cannot run here; nothing if it can
slurm_missing() {
    for program in munged slurmctld slurmd sbatch; do
        command -v $program >/dev/null && continue
        echo "$program is missing: apt-get install slurmctld slurmd slurm-client munge (where systemd runs, it starts services of them)"
        return
    done
    if [ "$(id -u)" -ne 0 ]; then
        echo 'the daemons of Slurm and a small file system need root'
    elif ! grep -q ' /sys/fs/cgroup' /proc/mounts; then
        echo 'slurmd needs /sys/fs/cgroup: for a chroot, mount --rbind /sys CHROOT/sys'
    elif ! { mkdir -p "$work/disk" && mount -t tmpfs -o size=64k none "$work/disk" 2>/dev/null && umount "$work/disk"; }; then
        echo 'mounting a file system is not permitted'
    fi
}

free_ports() { # number of them
    python3 -c 'import socket, sys
sockets = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))' "$1"
}

slurm_config() { # ports of slurmctld, first and second node
    user=$(id -un)
    cat >"$SLURM_CONF" <<END
ClusterName=fleet
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$1
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$slurm/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool.%n
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.%n.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$slurm/jobs.log
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=6
RequeueExit=4,137
SchedulerParameters=sched_interval=1,sched_min_interval=10000,batch_sched_delay=0,default_queue_depth=1000
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=$2 CPUs=1 State=UNKNOWN
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port=$3 CPUs=1 State=UNKNOWN
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
    # slurmd looks for the hierarchy even if it makes no limits
    version=cgroup/v2
    [ -e /sys/fs/cgroup/cgroup.controllers ] || version=cgroup/v1
    printf 'CgroupPlugin=%s\nConstrainCores=no\nConstrainRAMSpace=no\n' $version >"$slurm/cgroup.conf"
}

idle_nodes() {
    sinfo -h -N -o '%t' 2>/dev/null | grep -c '^idle$'
}

slurm_start() {
    mkdir -p "$slurm/state"
    head -c 1024 /dev/urandom >"$slurm/munge.key"
    chmod 400 "$slurm/munge.key"
    # --force: the folders above need not be those of root alone
    munged --force --origin=127.0.0.1 --socket="$slurm/munge.socket" --key-file="$slurm/munge.key" \
        --pid-file="$slurm/munge.pid" --seed-file="$slurm/munge.seed" --log-file="$slurm/munge.log" 2>"$slurm/munge.err" ||
        return 1
    # shellcheck disable=SC2046 # three ports
    slurm_config $(free_ports 3)
    slurmctld && slurmd -N n1 && slurmd -N n2 || return 1
    for _ in $(seq 60); do
        [ "$(idle_nodes)" = 2 ] && return 0
        sleep 0.5
    done
    return 1
}

# processes of the tasks on a node: its name is in their environment, and the folder of this test
node_processes() { # node
    grep -lzxF "SLURMD_NODENAME=$1" /proc/[0-9]*/environ 2>/dev/null | while read -r environ; do
        grep -qzxF "FLEET_CHECK=$work" "$environ" 2>/dev/null && echo "$environ" | cut -d / -f 3
    done
}

# those of a node and its daemons; the daemon that watches a task is the parent of the task's shell
step_daemons() { # node
    for process in $(node_processes "$1"); do
        parent=$(awk '/^PPid:/ { print $2 }' "/proc/$process/status" 2>/dev/null)
        case $(tr '\0' ' ' <"/proc/$parent/cmdline" 2>/dev/null) in slurmstepd*) echo "$parent" ;; esac
    done | sort -u
}

slurm_stop() {
    [ -d "$slurm" ] || return 0
    [ ! -e "$slurm/slurmctld.pid" ] || timeout 10 scancel -u "$(id -un)" 2>/dev/null
    for node in n1 n2; do
        # shellcheck disable=SC2046 # a list
        kill -KILL $(step_daemons $node) $(node_processes $node) 2>/dev/null
    done
    for name in slurmd.n1 slurmd.n2 slurmctld munge; do
        [ -s "$slurm/$name.pid" ] || continue
        pid=$(cat "$slurm/$name.pid")
        # another process may have the number of one that was killed
        tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q "^[^ ]*\(slurmd\|slurmctld\|munged\) " || continue
        kill "$pid" 2>/dev/null
        for _ in $(seq 50); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
        kill -KILL "$pid" 2>/dev/null
    done
    return 0
}
